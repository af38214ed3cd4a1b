job 'web' {
  type = 'service'
}
