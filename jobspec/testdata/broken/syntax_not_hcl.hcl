<html>
<body>not found</body>
