import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Random } from '../faults/service-agents.js'
import { freePort } from '../support/ports.js'
import { createPostgres } from '../support/postgres-server.js'
import { createRestateCluster } from '../support/restate-cluster.js'
import { type KeptProcess, keepProcess } from './kept-process.js'

export type EngineName = 'postgres' | 'restate'

/** What the journal is in, and what can be done to it. */
export interface Engine {
  /** Where its servers listen. */
  readonly ports: readonly number[]
  /** Answers for objects of Restate; null: of Postgres. */
  readonly handler: KeptProcess | null
  /** The journal's file of who reaches its servers at other ports. */
  file(ports: readonly number[]): object
  /** One server is killed as by a power cut, and stays away; an operator has the other one take writes. */
  loseOne(random: Random): Promise<void>
  /** One server stands still for so long. Where that is long, an operator does as above meanwhile. */
  freezeOne(forMs: number, random: Random): Promise<void>
  /** All but one, or both, are killed, and come back after so long. */
  loseMost(forMs: number, random: Random): Promise<void>
  remove(): Promise<void>
}

const STANDBY = 'second'
/** An operator, or a tool of theirs, takes a server for lost. */
const TAKEN_FOR_LOST_MS = 2_000

/** A server that takes writes, and its synchronous standby. */
export async function startPostgres(): Promise<Engine> {
  const primary = await createPostgres()
  const standby = await primary.follow(STANDBY)
  primary.sql(`ALTER SYSTEM SET synchronous_standby_names = '${STANDBY}'`)
  primary.sql('SELECT pg_reload_conf()')
  await expect
    .poll(() => primary.sql('SELECT sync_state FROM pg_stat_replication'), { timeout: 30_000 })
    .toBe('sync')
  const urls = [primary.url, standby.url]
  return {
    ports: urls.map((url) => Number(new URL(url).port)),
    handler: null,
    file: (ports) => ({
      postgres: urls.map((url, index) => {
        const there = new URL(url)
        there.port = String(ports[index])
        return there.href
      }),
    }),
    async loseOne() {
      await primary.kill()
      await delay(TAKEN_FOR_LOST_MS)
      standby.promote()
    },
    async freezeOne(forMs) {
      const startedAt = performance.now()
      primary.freeze()
      try {
        if (forMs > TAKEN_FOR_LOST_MS) {
          await delay(TAKEN_FOR_LOST_MS)
          standby.promote()
        }
        await delay(forMs - (performance.now() - startedAt))
      } finally {
        // It goes on as one that does not know of its successor, and waits for it at each commit.
        primary.thaw()
      }
    },
    async loseMost(forMs) {
      await Promise.all([primary.kill(), standby.kill()])
      await delay(forMs)
      await Promise.all([primary.start(), standby.start()])
    },
    async remove() {
      await Promise.all([primary.remove(), standby.remove()])
    },
  }
}

/** Three nodes, of which each may lead what the journal is in. */
export async function startRestate(directory: string): Promise<Engine> {
  const cluster = await createRestateCluster(3)
  const handlerPort = await freePort()
  const key = randomBytes(32).toString('hex')
  const file = (ports: readonly number[]) => ({
    restate: {
      ingresses: ports.map((port) => `http://127.0.0.1:${port}`),
      ...{ key, handler: { port: handlerPort } },
    },
  })
  const ports = cluster.ingresses.map((url) => Number(new URL(url).port))
  const path = join(directory, 'handler.json')
  writeFileSync(path, JSON.stringify(file(ports)), { mode: 0o600 })
  const handler = keepProcess(
    ...(['handler', 'dist/src/cli/main.js', () => ({ COUNTERSIGN_JOURNAL_FILE: path })] as const),
    ['cluster', 'handler'],
  )
  const remove = async () => {
    await handler.remove()
    await cluster.remove()
  }
  try {
    const registered = () => cluster.register(`http://127.0.0.1:${handlerPort}`).then(() => true)
    await expect.poll(() => registered().catch(() => false), { timeout: 60_000 }).toBe(true)
  } catch (error) {
    await remove()
    throw error
  }
  return {
    ...{ ports, handler, file, remove },
    async loseOne(random) {
      await random.pick(cluster.nodes).kill()
    },
    async freezeOne(forMs, random) {
      const node = random.pick(cluster.nodes)
      node.freeze()
      await delay(forMs)
      node.thaw()
    },
    async loseMost(forMs, random) {
      const kept = random.pick(cluster.nodes)
      const lost = cluster.nodes.filter((node) => node !== kept)
      await Promise.all(lost.map((node) => node.kill()))
      await delay(forMs)
      await Promise.all(lost.map((node) => node.start()))
    },
  }
}
