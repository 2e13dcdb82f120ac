PHRASE = "Hello World"
