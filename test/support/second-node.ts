import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startChild } from '../../bench/child-process.js'
import {
  issuerOf,
  type SinkStack,
  type SinkStackOptions,
  startSinkStack,
} from '../../bench/sink-stack.js'
import { enrolNode } from '../../scripts/dev/cluster/enrol-node.js'
import { countersignOk } from '../custody/command.js'
import { linksIn } from '../journal-postgres/standby-pair.js'
import { freePort } from './ports.js'
import { createPostgres } from './postgres-server.js'
import { NODES } from './service.js'

type Environment = Readonly<Record<string, string>>

/** A journal, and a node that passes requests on to a service that the test started itself. */
export interface SecondNode {
  /** Further environment for the service. */
  readonly env: Environment
  /**
   * The first time, the node's home is made from the owner's, with which it shares the other two
   * domains.
   * @param env the environment of the owner
   * @param rootKey the private root key of the registry; when absent, that of a development home
   * @returns the node's address, the same each time, once it passes requests on
   */
  start(leaderHome: string, env: Environment, rootKey?: string): Promise<string>
  /** Must be called before the node's owner is ended: the node would take over. */
  stop(): Promise<void>
  remove(): Promise<void>
}

const POLL_MS = 50
const READY_MS_MAX = 120_000

/** @returns null where only one node is tested: the service itself */
export async function secondNode(): Promise<SecondNode | null> {
  if (NODES === 1) return null
  const server = await createPostgres()
  const directory = mkdtempSync(join(tmpdir(), 'cs-second-'))
  const home = join(directory, 'home')
  const file = join(directory, 'journal.json')
  writeFileSync(file, JSON.stringify({ postgres: [server.url] }), { mode: 0o600 })
  const [first, second] = await linksIn(directory)
  const journal = { COUNTERSIGN_JOURNAL_FILE: file }
  const port = String(await freePort())
  const url = `http://127.0.0.1:${port}`
  let end = async (): Promise<void> => undefined

  async function start(leaderHome: string, env: Environment, rootKey?: string): Promise<string> {
    if (!existsSync(home)) {
      await countersignOk(leaderHome, ['cluster', 'add-node', '--to', home], { ...env, ...journal })
      await enrolNode(leaderHome, home, ['service'], rootKey)
      symlinkSync(join(leaderHome, 'run'), join(home, 'run'))
    }
    const ended = new AbortController()
    const own = { COUNTERSIGN_HOME: home, PORT: port, COUNTERSIGN_JOURNAL_ROLE: 'standby' }
    const all = { ...env, ...journal, ...second, ...own }
    let failure: Error | null = null
    // The node reports that it is ready only after a failover, which does not happen here.
    const child = startChild('dist/src/main.js', all, ended.signal).catch((error: Error) => {
      failure = error
    })
    end = async () => {
      ended.abort()
      await child
      end = async () => undefined
    }
    const deadlineMs = performance.now() + READY_MS_MAX
    while (!(await passesOn(url))) {
      if (failure !== null) throw failure
      if (performance.now() > deadlineMs) throw new Error(`${url} does not reach its owner`)
      await delay(POLL_MS)
    }
    return url
  }

  return {
    env: { ...journal, ...first },
    start,
    stop: () => end(),
    async remove() {
      await end()
      await server.remove()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/**
 * Recognised by the owner's answer to callers without a key; the node itself would refuse them all.
 */
async function passesOn(url: string): Promise<boolean> {
  return (await fetch(`${url}/api/limits`).catch(() => null))?.status === 401
}

/** Starts the stack. Where another node is to be tested, `baseUrl` is that node's. */
export async function startAskedSinkStack(options: SinkStackOptions): Promise<SinkStack> {
  const second = await secondNode()
  if (second === null) return startSinkStack(options)
  let stack: SinkStack | undefined
  try {
    const started = await startSinkStack({ ...options, env: { ...options.env, ...second.env } })
    stack = started
    const { home } = started
    const env = { ...options.env, IDENTITY_ISSUER: issuerOf(home) }
    const baseUrl = await second.start(home, env)
    return {
      ...started,
      baseUrl,
      get pids() {
        return started.pids
      },
      async restartService(whileDown) {
        await second.stop()
        const elapsedMs = await started.restartService(whileDown)
        await second.start(home, env)
        return elapsedMs
      },
      async stop() {
        await second.remove()
        await started.stop()
      },
    }
  } catch (error) {
    await second.remove()
    await stack?.stop()
    throw error
  }
}

/**
 * Lets the service of a copied home run on its own: a store that has a journal otherwise belongs to
 * the journal's owner. Does nothing where there is no journal.
 */
export async function leaveJournal(home: string): Promise<void> {
  if (NODES > 1) await countersignOk(home, ['cluster', 'leave', '--yes'])
}
