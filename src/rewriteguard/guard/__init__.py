"""The pure facade: it checks and decides, emits nothing and keeps no clock."""
