# Depot for operators. Build: docker build -t depot . Run: docker run -p 8080:8080 -v depot-data:/data depot
FROM node:24-bookworm-slim
WORKDIR /opt/depot
RUN useradd --system --home-dir /data --shell /usr/sbin/nologin depot && install -d -o depot /data
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev && npm cache clean --force
COPY bin bin
COPY src src
COPY migrations migrations
COPY taxonomy taxonomy
USER depot
ENV HOST=0.0.0.0 DATA_DIR=/data UV_THREADPOOL_SIZE=16
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["node", "-e", "fetch('http://127.0.0.1:8080/ready').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "bin/depot.mjs", "serve"]
