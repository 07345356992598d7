import { type ChildProcess, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'

/**
 * A real anvil for tests. It starts the platform's binary directly: the package's Node wrapper
 * would leave the node running when only the wrapper is killed.
 */
export interface Anvil {
  readonly url: string
  readonly chainId: number
  readonly pid: number
  /** One JSON-RPC call, such as `anvil_setBalance`. @throws Error with the node's text */
  rpc(method: string, params?: readonly unknown[]): Promise<unknown>
  /** Ends the process and waits until it is gone. */
  stop(): Promise<void>
}

export interface AnvilOptions {
  readonly chainId: number
  /** Further flags, for example `['--no-mining']` or `['--block-time', '1', '--mixed-mining']`. */
  readonly args?: readonly string[]
  readonly hardfork?: string
}

const START_TIMEOUT_MS = 60_000

export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  const { chainId, args = [], hardfork = 'osaka' } = options
  const child = spawn(
    anvilBinary(),
    // Port 0 lets the system choose; the line that anvil prints says which port it is.
    ['--port', '0', '--chain-id', `${chainId}`, '--accounts', '0', '--threads', '1']
      .concat(['--hardfork', hardfork, '--slots-in-an-epoch', '1'])
      .concat(args),
    { stdio: ['ignore', 'pipe', 'ignore'] },
  )
  const killWithParent = () => child.kill('SIGKILL')
  process.once('exit', killWithParent)
  const stop = async () => {
    process.removeListener('exit', killWithParent)
    await ended(child)
  }
  try {
    const url = await listening(child)
    if (child.pid === undefined) throw new Error('anvil has no pid')
    return { url, chainId, pid: child.pid, rpc: (m, p = []) => call(url, m, p), stop }
  } catch (cause) {
    await stop()
    throw cause
  }
}

function anvilBinary(): string {
  const name = `@foundry-rs/anvil-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`
  const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`)
  return join(dirname(manifest), 'bin', 'anvil')
}

function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('anvil did not start')), START_TIMEOUT_MS)
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`anvil ended with ${code}`)))
    if (child.stdout === null) return
    const lines = createInterface({ input: child.stdout })
    lines.on('line', (line) => {
      const match = /^Listening on (127\.0\.0\.1:\d+)/.exec(line)
      if (match === null) return
      clearTimeout(timer)
      lines.close()
      // The output is still read: a full pipe would stop the node.
      child.stdout?.resume()
      resolve(`http://${match[1]}`)
    })
  })
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await gone
}

async function call(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const answer = (await response.json()) as { result?: unknown; error?: { message: string } }
  if (answer.error !== undefined) throw new Error(answer.error.message)
  return answer.result
}
