"""Commands by area: one file per command or small family of commands; `cli.startup.lazy.COMMANDS` names them."""
