import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { mintConsoleToken } from '../scripts/dev/mint-console-token.js'
import { freePort } from './free-port.js'
import { onInterrupt } from './interrupted.js'
import { makeKeys } from './keys.js'
import { issuerOf } from './sink-stack.js'
import { makeDirectory } from './temporary.js'
import type { WriteTarget } from './write-path.js'

/** The whole service with its chains, as `npm start` starts it, in a separate home. */
export interface Stack {
  readonly baseUrl: string
  readonly pids: {
    readonly service: number
    readonly identity_provider: number
    readonly quorum_signer: number
    readonly chains: Readonly<Record<string, number>>
  }
  readonly rpc: Readonly<Record<string, string>>
  /** Secrets of trade keys, one per funded wallet. */
  readonly secrets: readonly string[]
  stop(): Promise<void>
}

const READY_TIMEOUT_MS = 240_000
const STOP_TIMEOUT_MS = 15_000
/** 1,000 native coins, more than any run spends on gas. */
const BALANCE_WEI_HEX = '0x3635c9adc5dea00000'

/** Mostly the write path is measured, not the limiter in front of it. */
const UNMETERED = { COUNTERSIGN_RATE_PER_SECOND: '1000000' }

/** @param rates environment of the rate limiter; empty for its defaults */
export async function startStack(
  wallets: number,
  chainId: number,
  rates: Readonly<Record<string, string>> = UNMETERED,
): Promise<Stack> {
  const directory = makeDirectory()
  const home = directory.path
  const port = await freePort()
  const child = spawn(process.execPath, ['scripts/run.mjs', 'dev/start'], {
    env: {
      ...process.env,
      COUNTERSIGN_HOME: home,
      PORT: String(port),
      ...rates,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  })
  // A separate process group does not receive the terminal's signals to this one.
  const forget = onInterrupt(() => endGroup(child))
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-2_000)
  })
  const stop = async (): Promise<void> => {
    await endGroup(child)
    forget()
    directory.remove()
  }
  try {
    const dev = await ready(child, join(home, 'dev.json'), () => errors)
    const token = await mintConsoleToken({ issuer: issuerOf(home), ...dev.user })
    const keys = await makeKeys(dev.base_url, token, wallets)
    for (const { address } of keys) await fund(dev.rpc[chainId], address)
    const secrets = keys.map(({ secret }) => secret)
    return { baseUrl: dev.base_url, pids: dev.pids, rpc: dev.rpc, secrets, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The stack as a load sees it. */
export function anvilTarget(stack: Stack, chainId: number): WriteTarget {
  const { service, identity_provider: identity, quorum_signer: quorum, chains } = stack.pids
  return {
    label: 'anvil',
    port: Number(new URL(stack.baseUrl).port),
    chainId,
    secrets: stack.secrets,
    pids: { service, identity, quorum, chain: chains[chainId] ?? service },
  }
}

interface DevFile {
  readonly base_url: string
  readonly user: { readonly email: string; readonly password: string }
  readonly rpc: Readonly<Record<string, string>>
  readonly pids: Stack['pids']
}

async function ready(child: ChildProcess, path: string, errors: () => string): Promise<DevFile> {
  const deadline = performance.now() + READY_TIMEOUT_MS
  while (performance.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`the stack did not start: ${errors()}`)
    if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8')) as DevFile
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  throw new Error(`the stack was not ready in ${READY_TIMEOUT_MS} ms: ${errors()}`)
}

async function fund(url: string | undefined, address: string): Promise<void> {
  if (url === undefined) throw new Error('no RPC of the chain')
  await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'anvil_setBalance',
      params: [address, BALANCE_WEI_HEX],
    }),
  })
}

async function endGroup(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null) return
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  process.kill(-child.pid, 'SIGTERM')
  const timer = setTimeout(() => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  }, STOP_TIMEOUT_MS)
  await gone
  clearTimeout(timer)
}
