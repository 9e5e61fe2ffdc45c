# Depot for operators. Build: docker build -t depot .
# Run: docker run --stop-timeout 40 -p 8080:8080 -v depot-data:/data depot
FROM node:24-bookworm-slim
WORKDIR /opt/depot
# A number, because some platforms start only containers of which they see that they are not root's.
RUN useradd --uid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin depot && install -d -o depot /data
COPY package.json package-lock.json .npmrc LICENSE ./
RUN npm ci --omit=dev && npm cache clean --force
COPY bin bin
COPY src src
COPY demo demo
COPY migrations migrations
COPY taxonomy taxonomy
COPY scripts/scan-with-clamav.mjs scripts/
USER 10001
ENV HOST=0.0.0.0 DATA_DIR=/data
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
# A container of `serve --role worker` listens nowhere: run it with --no-healthcheck.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 8080) + '/ready').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "bin/depot.mjs", "serve"]
