# The service with the locked dependencies:
# docker build --build-arg COMMIT=$(git rev-parse --short=9 HEAD) -t affiliate-tracking-service .
FROM python:3.11-slim AS build
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends binutils
WORKDIR /source
# Byte code would take 48 MB, a third of the image.
RUN python -m venv --without-pip /venv
COPY requirements.lock .
RUN python -m pip --python /venv/bin/python install --no-cache-dir --no-compile --require-hashes -r requirements.lock
COPY . .
ARG COMMIT
RUN python -m pip --python /venv/bin/python install --no-cache-dir --no-compile --no-deps --no-build-isolation . \
    && python -m pip --python /venv/bin/python uninstall -y hatchling editables \
    && find /venv -name '*.so*' -exec strip --strip-unneeded {} + \
    && find /venv -path '*/locale-data/*.dat' ! -name 'en*' ! -name root.dat -delete

FROM python:3.11-slim
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin svc && install -d -o svc -g svc /data
COPY --from=build /venv /venv
ENV PATH=/venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1 SVC_DATABASE_URL=sqlite+aiosqlite:////data/svc.db
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/readyz', timeout=4)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["svc"]
CMD ["serve", "--host", "0.0.0.0"]
