import {
  BaseError,
  createWalletClient,
  fallback,
  http,
  type PrivateKeyAccount,
  publicActions,
  type TransactionReceipt,
} from 'viem'
import type { ChainAccess } from '../../chains/access.js'
import type { Address, Hex } from '../../domain/ids.js'
import type { Io } from '../io.js'
import type { Row } from '../print.js'
import type { Signer } from './signing-account.js'

/** One transaction of an operator. */
export interface Step {
  readonly what: string
  /** `anyone` may send it; `owner` means only the Router's owner or guardian. */
  readonly sender: 'anyone' | 'owner'
  readonly to: Address
  readonly data: Hex
  /** Wei. */
  readonly value: bigint
}

export const STEP_COLUMNS = ['chain_id', 'what', 'sender', 'to', 'gas', 'tx_hash']

/** Estimates are based on an earlier block. */
const GAS_PERCENT = 130n
const RECEIPT_TIMEOUT_MS = 180_000

/**
 * Sends a plan's transactions in order, each after its predecessor is mined; a dry run prints them.
 * A plan may be made and sent again after any failure.
 * @returns a row for each transaction
 * @throws Error that names the transaction that reverted or was not mined in time
 */
export async function sendSteps(
  io: Io,
  chain: ChainAccess,
  signer: Signer,
  steps: readonly Step[],
): Promise<Row[]> {
  const rows: Row[] = []
  for (const step of steps) {
    const { what, sender, to, data, value } = step
    const row = { chain_id: chain.config.id, what, sender, to, value: value.toString(), data }
    if (signer.kind === 'dry-run') {
      const gas = await gasOf(chain, signer.address, step)
      rows.push({ ...row, gas: gas?.toString() ?? null, tx_hash: null })
      continue
    }
    if (io.isInteractive) io.err(`${chain.config.name}: ${what} …\n`)
    const { transactionHash, gasUsed } = await send(chain, signer.account, step)
    rows.push({ ...row, gas: gasUsed.toString(), tx_hash: transactionHash })
  }
  return rows
}

/**
 * Null when the node cannot estimate, for example because the previous step must be mined first.
 */
async function gasOf(chain: ChainAccess, from: Address, step: Step): Promise<bigint | null> {
  const call = { from, to: step.to, data: step.data, value: `0x${step.value.toString(16)}` }
  try {
    return withRoom(BigInt(await chain.rpc.request<Hex>('eth_estimateGas', [call, 'latest'])))
  } catch {
    return null
  }
}

async function send(
  chain: ChainAccess,
  account: PrivateKeyAccount,
  step: Step,
): Promise<TransactionReceipt> {
  try {
    return await sendBy(chain, account, step)
  } catch (error) {
    throw wordsOf(error)
  }
}

/** The package's error message repeats the node's URL, which often holds a secret. */
function wordsOf(error: unknown): unknown {
  if (!(error instanceof BaseError)) return error
  const { shortMessage, details } = error
  return new Error(shortMessage.includes(details) ? shortMessage : `${shortMessage} ${details}`)
}

async function sendBy(
  { config }: ChainAccess,
  account: PrivateKeyAccount,
  { what, to, data, value }: Step,
): Promise<TransactionReceipt> {
  const client = createWalletClient({
    account,
    chain: {
      id: config.id,
      name: config.name,
      nativeCurrency: { name: config.native_symbol, symbol: config.native_symbol, decimals: 18 },
      rpcUrls: { default: { http: config.rpc_urls } },
    },
    transport: fallback(config.rpc_urls.map((url) => http(url))),
    pollingInterval: config.block_time_ms,
  }).extend(publicActions)
  const gas = withRoom(await client.estimateGas({ to, data, value }))
  const hash = await client.sendTransaction({ to, data, value, gas })
  const receipt = await client.waitForTransactionReceipt({ hash, timeout: RECEIPT_TIMEOUT_MS })
  if (receipt.status !== 'success') throw new Error(`${what}: ${hash} reverted on ${config.name}`)
  return receipt
}

function withRoom(gas: bigint): bigint {
  return (gas * GAS_PERCENT) / 100n
}
