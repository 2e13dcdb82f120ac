module example.org/textkit

go 1.19
