# The image of Posse: docker build -t posse:0.1.0 .
# What is installed comes from requirements.lock, checked by hash; the tools of developers stay behind in the first stage.
FROM python:3.12.11-slim-bookworm AS build
WORKDIR /source
COPY requirements.lock ./
RUN python -m pip wheel --no-cache-dir --require-hashes --wheel-dir /wheels --requirement requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY examples examples
COPY src src
RUN python -m pip wheel --no-cache-dir --no-index --find-links /wheels --no-deps --wheel-dir /wheels . \
    && python -m venv /opt/posse \
    && /opt/posse/bin/python -m pip install --no-cache-dir --no-index --find-links /wheels posse

FROM python:3.12.11-slim-bookworm
COPY --from=build /opt/posse /opt/posse
ENV PATH=/opt/posse/bin:$PATH
USER 65532:65532
EXPOSE 10259
ENTRYPOINT ["posse"]
CMD ["run"]
