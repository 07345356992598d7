import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Child, startChild } from '../../bench/child-process.js'
import { freePort } from '../../bench/free-port.js'
import { type SinkStack, startSinkStack } from '../../bench/sink-stack.js'
import { makeAuthority } from '../../scripts/dev/certificates.js'
import { countersignOk } from '../custody/command.js'
import { createPostgres, type PostgresServer } from '../support/postgres-server.js'

/** Two homes of an identity provider with a journal of its own, and a service that reaches either. */
export interface IdentityPair {
  /** Of the identity provider's journal. */
  readonly server: PostgresServer
  /** The first home, whose identity provider is the first owner. */
  readonly stack: SinkStack
  /** The second one, made of the first while that was at work. */
  readonly home: string
  /** One that waits on a home, and takes over. */
  startStandby(home: string): Promise<WaitingIdentity>
  environmentOf(home: string): Record<string, string>
  /** Makes a home again out of another's, as an operator does. */
  makeHome(from: string, to: string): Promise<void>
  stop(): Promise<void>
}

export interface WaitingIdentity {
  /** Once it has taken over. */
  readonly child: Promise<Child>
  /** Of its journal, as it says while it waits and afterwards. */
  gauges(): Promise<Readonly<Record<string, number>>>
}

const ENTRY = 'dist/src/identity-provider/main.js'

export async function startIdentityPair(wallets: number): Promise<IdentityPair> {
  const server = await createPostgres()
  const directory = mkdtempSync(join(tmpdir(), 'cs-identity-pair-'))
  const file = (name: string, content: object): string => {
    const path = join(directory, name)
    writeFileSync(path, JSON.stringify(content), { mode: 0o600 })
    return path
  }
  const journal = file('journal.json', { postgres: [server.url] })
  const authority = makeAuthority(directory, 'authority')
  const [address, otherAddress] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`]
  const serving = { usage: 'serverAuth', names: 'DNS:identity' } as const
  const listener = (name: string, listen: string) =>
    file(`${name}.json`, {
      ...{ listen, authority: authority.certificate },
      ...authority.issue(name, serving),
    })
  const listeners = [listener('first', address), listener('second', otherAddress)] as const
  const link = file('link.json', {
    ...{ address, others: [otherAddress], server_name: 'identity' },
    ...{ authority: authority.certificate },
    ...authority.issue('service', { usage: 'clientAuth' }),
  })
  const ports = [await freePort(), await freePort()] as const
  const front = await frontOf(ports)
  const common = {
    IDENTITY_JOURNAL_FILE: journal,
    IDENTITY_PUBLIC_ISSUER: `http://127.0.0.1:${front.port}`,
  }
  const stack = await startSinkStack({
    wallets,
    identityEnv: {
      ...{ ...common, IDENTITY_LINK_FILE: listeners[0] },
      IDENTITY_PORT: String(ports[0]),
    },
    env: { COUNTERSIGN_IDENTITY_LINK_FILE: link, COUNTERSIGN_WORKERS: '2' },
  })
  const home = join(directory, 'home')
  const makeHome = async (from: string, to: string) => {
    await countersignOk(from, ['cluster', 'add-node', '--domain', 'user', '--to', to])
    mkdirSync(join(to, 'run'), { mode: 0o700 })
  }
  await makeHome(stack.home, home)
  const started: Promise<Child>[] = []
  const ended = new AbortController()
  const environmentOf = (at: string) => ({
    ...common,
    ...{ COUNTERSIGN_HOME: at, IDENTITY_JOURNAL_ROLE: 'standby' },
    IDENTITY_LINK_FILE: at === stack.home ? listeners[0] : listeners[1],
    IDENTITY_PORT: String(at === stack.home ? ports[0] : ports[1]),
  })
  return {
    ...{ server, stack, home, environmentOf, makeHome },
    async startStandby(at) {
      const metricsPort = await freePort()
      const env = { ...environmentOf(at), IDENTITY_METRICS_PORT: String(metricsPort) }
      const child = startChild(ENTRY, env, ended.signal)
      // Whether it comes to that is what is tested.
      child.catch(() => undefined)
      started.push(child)
      return { child, gauges: () => gaugesAt(metricsPort) }
    },
    async stop() {
      ended.abort()
      for (const child of await Promise.allSettled(started)) {
        if (child.status === 'fulfilled') await child.value.kill()
      }
      await stack.stop()
      front.server.close()
      await server.remove()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** As the proxy in front of both logins: to whichever listens. */
async function frontOf(ports: readonly number[]): Promise<{ server: Server; port: number }> {
  const server = createServer((socket) => {
    const tryAt = (at: number): void => {
      const port = ports[at]
      if (port === undefined) return void socket.destroy()
      const there = connect(port, '127.0.0.1', () => socket.pipe(there).pipe(socket))
      there.on('error', () => tryAt(at + 1))
      socket.on('close', () => there.destroy())
    }
    socket.on('error', () => socket.destroy())
    tryAt(0)
  })
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return { server, port }
}

const GAUGE = /^countersign_journal_(\w+) (\S+)$/gm

/** Empty where it does not answer. */
async function gaugesAt(port: number): Promise<Record<string, number>> {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`).catch(() => null)
  const text = (await answer?.text()) ?? ''
  return Object.fromEntries(
    [...text.matchAll(GAUGE)].map(([, name, value]) => [name, Number(value)]),
  )
}
