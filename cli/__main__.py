"""`python -m cli` is `svc`."""

from cli.main import app

if __name__ == "__main__":
    app(prog_name="svc")
