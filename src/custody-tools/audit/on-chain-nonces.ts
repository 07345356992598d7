import { BaseError, createPublicClient, http } from 'viem'
import { toHex } from '../../quorum-protocol/transaction.js'
import type { AuditReport } from './verify-evidence.js'

/** How many calls one HTTP request to a node carries. */
const CALLS_PER_REQUEST = 100
const TIMEOUT_MS = 15_000
/** An address with more nonces is reported only by their number. */
const NONCES_PER_ADDRESS_MAX = 1_000_000

interface OnChainNonces {
  /** The nonces that all addresses together used on that chain. */
  readonly nonces: number
  /** A sentence for each nonce without an approval of both domains. */
  readonly problems: readonly string[]
}

/**
 * Asks a node how many nonces each managed address has used, and looks up the approval of each: a
 * signature without a trace in the logs shows here.
 * @throws Error when the node does not answer
 */
export async function unexplainedNonces(url: string, report: AuditReport): Promise<OnChainNonces> {
  try {
    return await noncesAt(url, report)
  } catch (error) {
    // The package's error message repeats the node's URL, which often holds a secret.
    const reason = error instanceof BaseError ? error.shortMessage : String(error)
    throw new Error(`the node at ${new URL(url).host} gave no valid answer: ${reason}`)
  }
}

async function noncesAt(url: string, report: AuditReport): Promise<OnChainNonces> {
  const client = createPublicClient({
    transport: http(url, { batch: { batchSize: CALLS_PER_REQUEST }, timeout: TIMEOUT_MS }),
  })
  const chainId = await client.getChainId()
  const counts = await Promise.all(
    report.addresses.map(async (address) => ({
      address,
      used: await client.getTransactionCount({ address: toHex(address), blockTag: 'latest' }),
    })),
  )
  const problems: string[] = []
  let nonces = 0
  for (const { address, used } of counts) {
    nonces += used
    if (used > NONCES_PER_ADDRESS_MAX) {
      problems.push(`${toHex(address)} on chain ${chainId}: ${used} nonces are too many to check`)
      continue
    }
    for (let nonce = 0; nonce < used; nonce++) {
      if (report.find(address, chainId, nonce).length > 0) continue
      problems.push(`${toHex(address)} on chain ${chainId}, nonce ${nonce}: used without evidence`)
    }
  }
  return { nonces, problems }
}
