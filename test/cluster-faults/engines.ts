import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import { followed } from '../../scripts/dev/postgres/programs.js'
import { type HandlerFront, layHandlerFront } from '../../scripts/dev/restate/handler-front.js'
import type { Random } from '../faults/service-agents.js'
import { freePort } from '../support/ports.js'
import { createPostgres } from '../support/postgres-server.js'
import { createRestateCluster, type RestateNode } from '../support/restate-cluster.js'
import { type KeptProcess, keepProcess } from './kept-process.js'

export type EngineName = 'postgres' | 'restate'

/** What the journal is in, and what can be done to it. */
export interface Engine {
  /** Where its servers listen. */
  readonly ports: readonly number[]
  /** Of each machine with a node of Restate, what answers for its objects; none: of Postgres. */
  readonly handlers: readonly KeptProcess[]
  /** That of them which is asked most, under load. @throws where there is none */
  handlerAtWork(): Promise<KeptProcess>
  /** The journal's file of who reaches its servers at other ports. */
  file(ports: readonly number[]): object
  /** Finds the server that serves now, under load. */
  aimAtServer(): Promise<AimedServer>
  /** One that follows stands still for so long; of Restate, where none does, throws. */
  freezeStandby(forMs: number): Promise<void>
  /** One that follows is killed, and comes back after so long; of Restate, where none does, throws. */
  loseStandby(forMs: number): Promise<void>
  /** All but one, or both, are killed, and come back after so long. */
  loseMost(forMs: number, random: Random): Promise<void>
  remove(): Promise<void>
}

interface AimedServer {
  /** It is killed as by a power cut, and stays away; an operator has the other one take writes. */
  lose(): Promise<void>
  /** It stands still for so long. Where that is long, an operator does as above meanwhile. */
  freeze(forMs: number): Promise<void>
}

const STANDBYS = ['second', 'third'] as const
/** One of both may be away. */
const ANY_STANDBY = `ANY 1 (${STANDBYS.join(', ')})`
/** An operator, or a tool of theirs, takes a server for lost. */
const TAKEN_FOR_LOST_MS = 2_000
const RELOAD = 'SELECT pg_reload_conf()'

/** A server that takes writes and two standbys, of which each commit waits for one. */
export async function startPostgres(): Promise<Engine> {
  const primary = await createPostgres()
  const standbys = [await primary.follow(STANDBYS[0]), await primary.follow(STANDBYS[1])] as const
  primary.sql(`ALTER SYSTEM SET synchronous_standby_names = '${ANY_STANDBY}'`)
  primary.sql(RELOAD)
  const quorum = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'quorum'"
  await expect.poll(() => primary.sql(quorum), { timeout: 30_000 }).toBe('2')
  const servers = [primary, ...standbys]
  const urls = servers.map(({ url }) => url)

  /** Follows RUNBOOKS.md: no standby follows the lost primary when the one that is further is promoted. */
  async function promote(): Promise<void> {
    for (const each of standbys) {
      each.sql("ALTER SYSTEM SET primary_conninfo = ''")
      each.sql(RELOAD)
    }
    const receivers = () =>
      standbys.map((each) => each.sql('SELECT count(*) FROM pg_stat_wal_receiver'))
    await expect.poll(receivers, { timeout: 30_000 }).toEqual(['0', '0'])
    const [one, other] = standbys
    const behind = `SELECT pg_last_wal_receive_lsn() < '${other.sql('SELECT pg_last_wal_receive_lsn()')}'`
    const isBehind = one.sql(behind) === 't'
    const [next, waiting] = isBehind ? [other, one] : [one, other]
    const name = isBehind ? STANDBYS[0] : STANDBYS[1]
    next.promote()
    const { hostname: host, port, username: user } = new URL(next.url)
    const conninfo = followed({ host, port: Number(port), user }, name)
    waiting.sql(`ALTER SYSTEM SET primary_conninfo = '${conninfo}'`)
    waiting.sql(RELOAD)
    next.sql(`ALTER SYSTEM SET synchronous_standby_names = '${ANY_STANDBY}'`)
    next.sql(RELOAD)
  }

  return {
    ports: urls.map((url) => Number(new URL(url).port)),
    handlers: [],
    handlerAtWork: () => Promise.reject(new Error('this engine has no handler')),
    file: (ports) => ({
      postgres: urls.map((url, index) => {
        const there = new URL(url)
        there.port = String(ports[index])
        return there.href
      }),
    }),
    aimAtServer: async () => ({
      async lose() {
        await primary.kill()
        await delay(TAKEN_FOR_LOST_MS)
        await promote()
      },
      async freeze(forMs) {
        const startedAt = performance.now()
        primary.freeze()
        try {
          if (forMs > TAKEN_FOR_LOST_MS) {
            await delay(TAKEN_FOR_LOST_MS)
            await promote()
          }
          await delay(forMs - (performance.now() - startedAt))
        } finally {
          // It goes on as one that does not know of its successor, and waits for its standbys at each commit.
          primary.thaw()
        }
      },
    }),
    async freezeStandby(forMs) {
      standbys[0].freeze()
      await delay(forMs)
      standbys[0].thaw()
    },
    async loseStandby(forMs) {
      await standbys[1].kill()
      await delay(forMs)
      await standbys[1].start()
    },
    async loseMost(forMs, random) {
      const kept = random.pick(servers)
      const lost = servers.filter((server) => server !== kept)
      await Promise.all(lost.map((server) => server.kill()))
      await delay(forMs)
      await Promise.all(lost.map((server) => server.start()))
    },
    async remove() {
      await Promise.all(servers.map((server) => server.remove()))
    },
  }
}

const NO_STANDBY = 'no node of Restate is a standby'

/** How long it is looked which node asks handlers most, and which of these is asked most. */
const POLL_MS = 500

/**
 * Three machines with a node each, of which each may lead what the journal is in, and a handler: nodes
 * know them by one address, which leads to that of their own machine as long as it answers.
 */
export async function startRestate(directory: string): Promise<Engine> {
  const ends: (() => Promise<unknown>)[] = []
  const remove = async () => {
    for (const end of ends.splice(0).reverse()) await end()
  }
  try {
    return await raiseRestate(directory, remove, (end) => void ends.push(end))
  } catch (error) {
    await remove()
    throw error
  }
}

async function raiseRestate(
  directory: string,
  remove: () => Promise<void>,
  later: (end: () => Promise<unknown>) => void,
): Promise<Engine> {
  const handlerPorts = [await freePort(), await freePort(), await freePort()]
  const machines = handlerPorts.map((_, machine) => machine)
  const fronts: HandlerFront[] = []
  for (const machine of machines) {
    const own = machines.map((_, index) => (machine + index) % machines.length)
    const front = await layHandlerFront(
      own.map((index) => handlerPorts[index] as number),
      0,
    )
    later(() => front.close())
    fronts.push(front)
  }
  // One address for all of them, as 127.0.0.1 is where each has a machine of its own.
  const frontOf = (machine: number) => `http://127.0.0.1:${fronts[machine]?.port}`
  const cluster = await createRestateCluster(3, (node) => [`http-proxy = "${frontOf(node)}"`])
  later(() => cluster.remove())
  const key = randomBytes(32).toString('hex')
  const ports = cluster.ingresses.map((url) => Number(new URL(url).port))
  const settings = (at: readonly number[], handlerPort: number) => ({
    restate: {
      ingresses: at.map((port) => `http://127.0.0.1:${port}`),
      ...{ key, handler: { port: handlerPort } },
    },
  })
  const handlers = handlerPorts.map((port, machine) => {
    const path = join(directory, `handler-${machine + 1}.json`)
    writeFileSync(path, JSON.stringify(settings(ports, port)), { mode: 0o600 })
    const env = () => ({ COUNTERSIGN_JOURNAL_FILE: path })
    const args = ['cluster', 'handler']
    return keepProcess(`handler ${machine + 1}`, 'dist/src/cli/main.js', env, args)
  })
  for (const handler of handlers) later(() => handler.remove())
  const registered = () => cluster.register(frontOf(0)).then(() => true)
  await expect.poll(() => registered().catch(() => false), { timeout: 60_000 }).toBe(true)
  return {
    ...{ ports, handlers, remove },
    file: (at) => settings(at, handlerPorts[0] as number),
    async handlerAtWork() {
      return handlers[await busiest(() => passedTo(fronts))] as KeptProcess
    },
    async aimAtServer() {
      const node = cluster.nodes[await busiest(() => passedBy(fronts))] as RestateNode
      return {
        lose: () => node.kill(),
        async freeze(forMs) {
          node.freeze()
          await delay(forMs)
          node.thaw()
        },
      }
    },
    freezeStandby: () => Promise.reject(new Error(NO_STANDBY)),
    loseStandby: () => Promise.reject(new Error(NO_STANDBY)),
    async loseMost(forMs, random) {
      const kept = random.pick(cluster.nodes)
      const lost = cluster.nodes.filter((node) => node !== kept)
      await Promise.all(lost.map((node) => node.kill()))
      await delay(forMs)
      await Promise.all(lost.map((node) => node.start()))
    },
  }
}

/** Bytes from the node of each machine: whichever leads what the journal is in asks a handler. */
const passedBy = (fronts: readonly HandlerFront[]) =>
  fronts.map(({ passed }) => passed().reduce((sum, bytes) => sum + bytes, 0))

/** Bytes to the handler of each machine by all fronts, of which each has its own first. */
const passedTo = (fronts: readonly HandlerFront[]) =>
  fronts.map((_, machine) =>
    fronts.reduce((sum, { passed }, index) => {
      const place = (machine - index + fronts.length) % fronts.length
      return sum + (passed()[place] ?? 0)
    }, 0),
  )

async function busiest(passed: () => readonly number[]): Promise<number> {
  const before = passed()
  await delay(POLL_MS)
  const since = passed().map((bytes, machine) => bytes - (before[machine] ?? 0))
  return since.indexOf(Math.max(...since))
}
