job "wéb" {
	group "äpp" {
		name = "ü"; cuont = 1
	}
}
