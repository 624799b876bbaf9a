"""The store's settings: Django's usual ones, and the affiliate program's from `.svc/.env`."""

import os
from pathlib import Path

from dotenv import load_dotenv  # pip install python-dotenv

load_dotenv(".svc/.env")

BASE_DIR = Path(__file__).resolve().parent.parent
SECRET_KEY = os.environ.get("SECRET_KEY", "only for this example")
DEBUG = os.environ.get("DEBUG") == "1"
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "shop.urls"
AUTH_USER_MODEL = "shop.User"
INSTALLED_APPS = ["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "shop"]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "shop.middleware.keep_click",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": ["django.template.context_processors.request", "shop.middleware.affiliate"]
        },
    }
]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.environ.get("DATABASE", "shop.sqlite3")}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
