# One image for the three processes and the command line; compose.yaml says which runs where. Bases
# are arguments, so that a registry of your own, or pinned digests, can take their place.
ARG BUILD_BASE=docker.io/library/node:20-bookworm
ARG BASE=docker.io/library/node:20-bookworm-slim

FROM ${BUILD_BASE} AS package
WORKDIR /src
COPY . .
# The package as it is published, then what it needs at run time, by the same lock file.
RUN npm ci --include=dev --no-audit --no-fund \
    && npm pack --pack-destination /tmp \
    && mkdir -p /opt/countersign \
    && tar -xzf /tmp/countersign-*.tgz -C /opt/countersign --strip-components=1 \
    && cp package-lock.json /opt/countersign/ \
    && cd /opt/countersign \
    && npm ci --omit=dev --no-audit --no-fund

FROM ${BASE}
# As scripts/systemd makes them: a user for each domain, and a group for each socket. Numbers are
# fixed, since volumes outlive containers.
RUN groupadd --gid 64100 countersign \
    && groupadd --gid 64104 countersign-identity-socket \
    && groupadd --gid 64105 countersign-quorum-socket \
    && groupadd --gid 64101 countersign-service \
    && useradd --uid 64101 --gid 64101 --groups countersign --no-create-home --home-dir /var/lib/countersign --shell /usr/sbin/nologin countersign-service \
    && groupadd --gid 64102 countersign-identity \
    && useradd --uid 64102 --gid 64102 --groups countersign --no-create-home --home-dir /var/lib/countersign --shell /usr/sbin/nologin countersign-identity \
    && groupadd --gid 64103 countersign-quorum \
    && useradd --uid 64103 --gid 64103 --groups countersign --no-create-home --home-dir /var/lib/countersign --shell /usr/sbin/nologin countersign-quorum \
    && install -d -m 1770 -o root -g countersign /var/lib/countersign /var/lib/countersign/run \
    && install -d -m 0700 -o countersign-service -g countersign-service /var/lib/countersign/service \
    && install -d -m 0700 -o countersign-identity -g countersign-identity /var/lib/countersign/identity-provider \
    && install -d -m 0700 -o countersign-quorum -g countersign-quorum /var/lib/countersign/quorum-signer \
    && install -d -m 0750 -o countersign-service -g countersign-service /var/lib/countersign/lists \
    && ln -s /opt/countersign/scripts/countersign.mjs /usr/local/bin/countersign
COPY --from=package /opt/countersign /opt/countersign
WORKDIR /opt/countersign
ENV NODE_ENV=production COUNTERSIGN_HOME=/var/lib/countersign COUNTERSIGN_MODE=live
USER countersign-service
CMD ["node", "/opt/countersign/dist/src/supervisor/main.js"]
