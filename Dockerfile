# The image of a release, built from its npm package. Build: npm run release && docker build -t depot release
# Run: docker run --read-only --tmpfs /tmp --stop-timeout 40 -p 8080:8080 -v depot-data:/data depot
FROM node:24-bookworm-slim AS install
WORKDIR /build
COPY depot-*.tgz depot.tgz
RUN npm install --global --prefix /opt/depot --omit=dev ./depot.tgz
# The clients of S3, Redis, OpenSearch, ClickHouse and OpenTelemetry.
RUN cp -r /opt/depot/lib/node_modules/depot/engines . && npm ci --prefix engines --ignore-scripts
RUN node /opt/depot/lib/node_modules/depot/bin/remove-unused.mjs \
  && node /opt/depot/lib/node_modules/depot/bin/remove-unused.mjs /build/engines/node_modules \
  && mv engines/node_modules/* /opt/depot/lib/node_modules/

# Without Node.js, which the npm package includes.
FROM debian:bookworm-slim
# A number, because some platforms start only containers of which they see that they are not root's.
RUN useradd --uid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin depot && install -d -o depot /data
COPY --from=install /opt/depot /opt/depot
ENV PATH=/opt/depot/bin:/opt/depot/lib/node_modules/depot/node_modules/.bin:/usr/local/bin:/usr/bin:/bin
ENV HOST=0.0.0.0 DATA_DIR=/data
WORKDIR /data
USER 10001
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
# A container of `serve --role worker` listens nowhere: run it with --no-healthcheck.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 8080) + '/ready').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["depot", "serve"]
