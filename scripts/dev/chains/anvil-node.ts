import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { startOnFreePort } from '../free-port.js'
import type { ProcessObserver, SupervisedProcess } from '../supervision/supervised-process.js'
import { superviseProcess } from '../supervision/supervised-process.js'
import { anvilBinary } from './anvil-binary.js'
import { tickBlocks } from './block-ticker.js'
import { prepareLoad, type StateFiles, stateFiles } from './chain-state.js'
import { rpc } from './json-rpc.js'
import { keepSnapshots, type SnapshotKeeper } from './snapshot-keeper.js'

/** One running development chain. */
export interface AnvilNode {
  readonly chainId: number
  readonly rpcUrl: string
  readonly port: number
  readonly process: SupervisedProcess
  readonly snapshots: SnapshotKeeper
  /** Saves the state and ends the node. */
  stop(): Promise<void>
}

export interface AnvilOptions {
  readonly chainId: number
  readonly name: string
  /** The chain's own directory; created. */
  readonly dir: string
  readonly logPath: string
  /** The port of the last run, if there was one; a taken port is skipped. */
  readonly preferredPort: number
  readonly claimedPorts: Set<number>
  readonly observer: ProcessObserver
}

const HOST = '127.0.0.1'
const POLL_MS = 20
const READY_TIMEOUT_MS = 30_000
const STOP_TIMEOUT_MS = 5_000
/**
 * The number of recent blocks whose states stay in memory. With none, a read at `latest` fails with
 * BlockOutOfRangeError when a block arrives between resolving `latest` and reading it.
 */
const STATES_KEPT = '16'

/** @throws StartFailure with anvil's output */
export async function startAnvil(options: AnvilOptions): Promise<AnvilNode> {
  mkdirSync(options.dir, { recursive: true, mode: 0o700 })
  const files = stateFiles(options.dir)
  return startOnFreePort(options.preferredPort, options.claimedPorts, async (port) => {
    const node = superviseAnvil(options, files, port)
    try {
      await node.start()
    } catch (error) {
      await node.stop()
      throw error
    }
    return serve(options, files, port, node)
  })
}

function serve(
  options: AnvilOptions,
  files: StateFiles,
  port: number,
  supervised: SupervisedProcess,
): AnvilNode {
  const rpcUrl = urlOf(port)
  const snapshots = keepSnapshots(rpcUrl, files)
  const ticker = tickBlocks(rpcUrl, snapshots.onTick)
  return {
    chainId: options.chainId,
    rpcUrl,
    port,
    process: supervised,
    snapshots,
    async stop() {
      await ticker.stop()
      // anvil also dumps on SIGTERM; this snapshot is for the case that its dump takes too long.
      if (supervised.pid !== null) await snapshots.save().catch(() => undefined)
      await supervised.stop()
    },
  }
}

function superviseAnvil(options: AnvilOptions, files: StateFiles, port: number): SupervisedProcess {
  const identityPath = join(options.dir, 'anvil.json')
  return superviseProcess(
    {
      name: options.name,
      channel: 'none',
      readyTimeoutMs: READY_TIMEOUT_MS,
      stopTimeoutMs: STOP_TIMEOUT_MS,
      logPath: options.logPath,
      async launch() {
        rmSync(identityPath, { force: true })
        const load = prepareLoad(files) ? ['--load-state', files.load] : []
        return {
          command: anvilBinary(),
          args: [...anvilArguments(options.chainId, port, files, identityPath), ...load],
          env: process.env,
        }
      },
      awaitReady: (signal) => answersAsItself(urlOf(port), options.chainId, identityPath, signal),
    },
    options.observer,
  )
}

function anvilArguments(
  chainId: number,
  port: number,
  files: StateFiles,
  identityPath: string,
): string[] {
  return [
    ...['--quiet', '--host', HOST, '--port', String(port), '--chain-id', String(chainId)],
    // One empty account with a random address identifies the node.
    ...['--accounts', '1', '--balance', '0', '--mnemonic-random', '--config-out', identityPath],
    // Type-4 transactions and P256VERIFY on all chains; --optimism does not know osaka.
    ...['--hardfork', 'osaka'],
    // A transaction is mined at once; `block-ticker.ts` adds the blocks in between. One slot per
    // epoch keeps the safe and finalized blocks right behind the head.
    ...['--slots-in-an-epoch', '1'],
    ...['--threads', '1', '--no-request-size-limit'],
    ...['--prune-history', STATES_KEPT],
    ...['--dump-state', files.exitDump],
  ]
}

const nodeIdentity = z.object({ available_accounts: z.tuple([z.string()]) })

/**
 * Waits until the node answers, and checks that it is ours: a node of an earlier run on the same
 * port would answer as well.
 */
async function answersAsItself(
  rpcUrl: string,
  chainId: number,
  identityPath: string,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const accounts = await rpc(rpcUrl, 'eth_accounts').catch(() => null)
    const own = readIdentity(identityPath)
    if (own !== null && Array.isArray(accounts) && accounts[0] === own) {
      const answered = Number(await rpc(rpcUrl, 'eth_chainId'))
      if (answered !== chainId) throw new Error(`it answers as chain ${answered}`)
      // A loaded state has the time at which it was saved; one block brings it to the present.
      await rpc(rpcUrl, 'evm_mine')
      return
    }
    await delay(POLL_MS, undefined, { signal }).catch(() => undefined)
  }
}

function readIdentity(path: string): string | null {
  try {
    return nodeIdentity.parse(JSON.parse(readFileSync(path, 'utf8'))).available_accounts[0]
  } catch {
    // The file is not written yet, or incomplete.
    return null
  }
}

function urlOf(port: number): string {
  return `http://${HOST}:${port}`
}
