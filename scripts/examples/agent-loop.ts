import { createClient } from '../../src/client/client.js'
import { AddressBlockedError, LimitExceededError, ServiceError } from '../../src/client/errors.js'

/**
 * An agent that pays a list of invoices over REST, and never pays one twice: the invoice's number
 * is the idempotency key, so that this program may crash and start again at any point.
 *
 *   COUNTERSIGN_URL=… COUNTERSIGN_API_KEY=… node dist/scripts/examples/agent-loop.js
 *
 * Outside of this repository the imports are `countersign/client` and `countersign/client/errors`.
 */

const BASE = 8453
const INVOICES = [
  { number: 'invoice-1', to: '0x00000000000000000000000000000000000000A1', wei: '1000000000000' },
  { number: 'invoice-2', to: '0x00000000000000000000000000000000000000a2', wei: '2000000000000' },
] as const

const { COUNTERSIGN_URL = 'http://127.0.0.1:8080', COUNTERSIGN_API_KEY = '' } = process.env
const wallet = createClient({ url: COUNTERSIGN_URL, apiKey: COUNTERSIGN_API_KEY })

const { addresses } = await wallet.getWalletAddress()
const limits = await wallet.getLimits()
console.log(
  `paying from ${addresses.evm}; ${limits.daily_used_usd} of ${limits.daily_limit_usd} USD used today`,
)

for (const { number, to, wei } of INVOICES) {
  try {
    const sent = await wallet.sendTransaction(
      { chain_id: BASE, to, value: wei },
      { idempotencyKey: number },
    )
    const final = await wallet.waitForTransaction(sent.tx_id)
    console.log(`${number}: ${final.status}, ${final.tx_hash}, ${final.spend_usd} USD`)
  } catch (error) {
    if (error instanceof LimitExceededError) {
      console.log(
        `${number}: the ${error.details.period} cap is reached until ${error.details.resets_at}`,
      )
      break
    }
    if (error instanceof AddressBlockedError)
      console.log(`${number}: ${to} is on ${error.details.list}`)
    else if (error instanceof ServiceError)
      console.log(`${number}: ${error.code} (${error.requestId})`)
    else throw error
  }
}
