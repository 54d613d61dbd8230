# The image of Posse, posse:0.1.0: make image BASE=python:3.12.11-slim-bookworm@sha256:...
# Any OCI builder takes it. Without BASE a tag is used, which may mean another image tomorrow.
# What is installed comes from requirements.lock, checked by hash; the tools of developers stay behind in the first stage.
ARG BASE=python:3.12.11-slim-bookworm
FROM ${BASE} AS build
WORKDIR /source
COPY requirements.lock ./
RUN python -m pip wheel --no-cache-dir --require-hashes --wheel-dir /wheels --requirement requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY examples examples
COPY src src
RUN python -m pip wheel --no-cache-dir --no-index --find-links /wheels --no-deps --wheel-dir /wheels . \
    && python -m venv /opt/posse \
    && /opt/posse/bin/python -m pip install --no-cache-dir --no-index --find-links /wheels posse

FROM ${BASE}
COPY --from=build /opt/posse /opt/posse
ENV PATH=/opt/posse/bin:$PATH
USER 65532:65532
EXPOSE 10259
ENTRYPOINT ["posse"]
CMD ["run"]
