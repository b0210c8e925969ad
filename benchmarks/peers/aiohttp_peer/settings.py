"""The environment variables of `../../README.md`."""

from os import environ

HOST = environ["HOST"]
PORT = int(environ["PORT"])
DATABASE = environ["DATABASE"]
PROVIDER = "codehost"
ORGANIZATION = environ["ORGANIZATION"]
INTEGRATION = environ["INTEGRATION"]
REPOSITORY = environ["REPOSITORY"]
REPOSITORY_ID = int(environ["REPOSITORY_ID"])
SECRET = environ["SECRET"]
TRIGGER = environ["TRIGGER"]
