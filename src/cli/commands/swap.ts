import type { Command } from 'commander'
import { agentClient, type GlobalOptions } from '../connection.js'
import { UsageError } from '../exit-codes.js'
import { followTransaction, TRANSACTION_COLUMNS } from '../follow-transaction.js'
import type { Io } from '../io.js'
import { CHAIN_HELP, chainOption, integerOption } from '../options.js'
import { printRecord, type Row } from '../print.js'
import { TOKEN_HELP, tokensNamed } from '../token-named.js'

interface SwapOptions {
  readonly chain: number
  readonly from: string
  readonly to: string
  readonly amount: string
  readonly slippage?: number
  readonly quote?: boolean
  readonly yes?: boolean
  readonly idempotencyKey?: string
}

const QUOTE_COLUMNS = [
  'amount_in',
  'amount_out',
  'amount_out_min',
  'fee_amount',
  'fee_token',
  'fee_bps',
  'price_impact_bps',
  'expires_at',
]

export function register(program: Command, io: Io): void {
  program
    .command('swap')
    .description('swap tokens; the service pays the gas and takes its fee in the input token')
    .requiredOption('--chain <chain>', CHAIN_HELP, chainOption)
    .requiredOption('--from <token>', TOKEN_HELP)
    .requiredOption('--to <token>', TOKEN_HELP)
    .requiredOption('--amount <units>', 'smallest units of the input token, fee included')
    .option('--slippage <bps>', 'accepted slippage in basis points (default 50)', integerOption)
    .option('--quote', 'show the quote and do nothing')
    .option('--yes', 'do not ask')
    .option('--idempotency-key <key>', 'same key = same swap; reuse it when retrying')
    .action(async (given: SwapOptions, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const client = agentClient(io, options)
      const [tokenIn = '', tokenOut = ''] = await tokensNamed(client, given.chain, [
        given.from,
        given.to,
      ])
      const quote = await client.getSwapQuote({
        chain_id: given.chain,
        token_in: tokenIn,
        token_out: tokenOut,
        amount_in: given.amount,
        ...(given.slippage === undefined ? {} : { slippage_bps: given.slippage }),
      })
      if (given.quote === true) {
        printRecord(io, options, quote, QUOTE_COLUMNS)
        return
      }
      if (given.yes !== true && !(await isAgreed(io, quote))) return
      const sent = await client.executeSwap(
        { quote_id: quote.quote_id },
        given.idempotencyKey === undefined ? {} : { idempotencyKey: given.idempotencyKey },
      )
      const record = await followTransaction(io, client, sent.tx_id)
      printRecord(io, options, record, TRANSACTION_COLUMNS)
    })
}

/** @throws UsageError when there is no person to ask */
async function isAgreed(io: Io, quote: Row): Promise<boolean> {
  if (io.confirm === undefined)
    throw new UsageError(
      'There is no terminal to confirm the price. Pass --yes to accept it, or --quote to see it.',
    )
  printRecord({ ...io, out: io.err }, {}, quote, QUOTE_COLUMNS)
  return io.confirm('Swap at this price? [y/N] ')
}
