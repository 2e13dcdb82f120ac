"""One file per command or small family of commands; `cli.lazy.COMMANDS` names them."""
