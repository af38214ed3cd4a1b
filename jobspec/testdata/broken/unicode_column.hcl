job "wéb" {
	meta = { "日本語" = upper(1, 2) }
	group "äpp" {
		cuont = 1
	}
}
