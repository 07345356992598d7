import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mintConsoleToken } from '../scripts/dev/mint-console-token.js'

/** The whole service with its chains, as `npm start` brings it up, in a home of its own. */
export interface Stack {
  readonly baseUrl: string
  readonly pids: {
    readonly service: number
    readonly identity_provider: number
    readonly quorum_signer: number
    readonly chains: Readonly<Record<string, number>>
  }
  readonly rpc: Readonly<Record<string, string>>
  /** Secrets of trade keys without caps, one per funded wallet. */
  readonly secrets: readonly string[]
  stop(): Promise<void>
}

const READY_TIMEOUT_MS = 240_000
const STOP_TIMEOUT_MS = 15_000
/** 1,000 native coins: more than any run spends on gas. */
const BALANCE_WEI_HEX = '0x3635c9adc5dea00000'

export async function startStack(wallets: number, chainId: number): Promise<Stack> {
  const home = mkdtempSync(join(tmpdir(), 'cs-bench-'))
  const port = await freePort()
  const child = spawn(process.execPath, ['scripts/run.mjs', 'dev/start'], {
    env: {
      ...process.env,
      COUNTERSIGN_HOME: home,
      PORT: String(port),
      // What is measured is the write path, not the limiter in front of it.
      COUNTERSIGN_RATE_PER_SECOND: '1000000',
      COUNTERSIGN_RATE_BURST: '1000000',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  })
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-2_000)
  })
  const stop = async (): Promise<void> => {
    await endGroup(child)
    rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
  }
  try {
    const dev = await ready(child, join(home, 'dev.json'), () => errors)
    const { issuer } = JSON.parse(
      readFileSync(join(home, 'identity-provider', 'issuer.json'), 'utf8'),
    ) as { issuer: string }
    const token = await mintConsoleToken({ issuer, ...dev.user })
    const secrets: string[] = []
    for (let i = 0; i < wallets; i++) secrets.push(await fundedKey(dev, token, chainId, i))
    return { baseUrl: dev.base_url, pids: dev.pids, rpc: dev.rpc, secrets, stop }
  } catch (error) {
    await stop()
    throw error
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

async function fundedKey(
  dev: DevFile,
  token: string,
  chainId: number,
  index: number,
): Promise<string> {
  const post = async <T>(path: string, body: object): Promise<T> => {
    const response = await fetch(`${dev.base_url}/api/v1/agent${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as T
  }
  const wallet = await post<{ sub_wallet_id: string; addresses: { evm: string } }>('/wallets', {
    name: `bench ${index}`,
  })
  const key = await post<{ secret: string }>('/keys', {
    name: `bench ${index}`,
    sub_wallet_id: wallet.sub_wallet_id,
    permission: 'trade',
    daily_limit_usd: 'unlimited',
    monthly_limit_usd: 'unlimited',
  })
  const url = dev.rpc[chainId]
  if (url === undefined) throw new Error(`no RPC of chain ${chainId}`)
  await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'anvil_setBalance',
      params: [wallet.addresses.evm, BALANCE_WEI_HEX],
    }),
  })
  return key.secret
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

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => {
        if (typeof address === 'object' && address !== null) resolve(address.port)
        else reject(new Error('no port'))
      })
    })
  })
}
