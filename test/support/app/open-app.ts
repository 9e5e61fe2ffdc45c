// The parts of an application under test: one process, or what a server of several is made of.
import assert from 'node:assert/strict'
import { buildApp } from '#main/app.ts'
import { type BootOptions, boot } from '#main/boot.ts'
import { connectToHub, joinHub } from '#main/processes/http-process.ts'
import { Hub } from '#main/processes/hub.ts'
import type { EntityCache, EntityCacheStats } from '#platform/cache/entity-cache.ts'
import type { App } from '#platform/http/server.ts'
import type { Deps } from '#ports/deps.ts'

export type Opened = { deps: Deps; apps: [App, ...App[]]; close(): Promise<void> }

export async function openOne(options: BootOptions, adapt: (deps: Deps) => Deps): Promise<Opened> {
  const booted = await boot(options)
  // Without `listen`: no other process changes this database.
  booted.deps.cache.enable()
  const deps = adapt(booted.deps)
  const app = await buildApp(deps)
  return {
    deps,
    apps: [app],
    close: async () => {
      await app.close()
      await booted.close()
    },
  }
}

/**
 * Opens the parts of `depot serve` with several HTTP processes in one event loop, so that the test controls every
 * clock. Without `listen`, only the hub announces changes to the others.
 */
export async function openSeveral(count: number, options: BootOptions, adapt: (deps: Deps) => Deps): Promise<Opened> {
  const { log, config } = options
  const onSilent = () => assert.fail('A process did not take in a change')
  const hub = await Hub.open({ dataDir: config.dataDir, log, onListening() {}, onLeaving() {}, onSilent })
  const main = await boot({ ...options, peers: hub.peers })
  hub.expose(main)
  const joined = await Promise.all(
    Array.from({ length: count }, async () => {
      const channel = await connectToHub(hub.socketPath)
      const process = await joinHub(channel, options, adapt)
      process.booted.deps.cache.enable()
      return { ...process, channel }
    }),
  )
  const caches = [main, ...joined.map(({ booted }) => booted)].map(({ deps }) => deps.cache)
  const cache: EntityCache = {
    ...main.deps.cache,
    clear: () => {
      for (const each of caches) each.clear()
    },
    stats: () => addUp(caches.map((each) => each.stats())),
  }
  return {
    deps: adapt({ ...main.deps, cache }),
    apps: joined.map(({ app }) => app) as [App, ...App[]],
    close: async () => {
      for (const { app, booted, channel } of joined) {
        await app.close()
        await booted.close()
        channel.close()
      }
      await main.close()
      hub.close()
    },
  }
}

function addUp(all: readonly EntityCacheStats[]): EntityCacheStats {
  const kinds: EntityCacheStats['kinds'] = {}
  for (const [name, stats] of all.flatMap((each) => Object.entries(each.kinds))) {
    const sum = kinds[name]
    kinds[name] =
      sum === undefined
        ? stats
        : {
            entries: sum.entries + stats.entries,
            hits: sum.hits + stats.hits,
            misses: sum.misses + stats.misses,
            loads: sum.loads + stats.loads,
            evicted: sum.evicted + stats.evicted,
            overtaken: sum.overtaken + stats.overtaken,
            oversized: sum.oversized + stats.oversized,
          }
  }
  const sumOf = (of: (stats: EntityCacheStats) => number): number => all.reduce((total, each) => total + of(each), 0)
  return {
    enabled: all.every(({ enabled }) => enabled),
    bytes: sumOf(({ bytes }) => bytes),
    maxBytes: sumOf(({ maxBytes }) => maxBytes),
    kinds,
  }
}
