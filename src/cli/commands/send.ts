import type { Command } from 'commander'
import { agentClient, type GlobalOptions } from '../connection.js'
import { followTransaction, TRANSACTION_COLUMNS } from '../follow-transaction.js'
import type { Io } from '../io.js'
import { integerOption } from '../options.js'
import { printRecord } from '../print.js'

interface SendOptions {
  readonly chain: number
  readonly to: string
  readonly value?: string
  readonly data?: string
  readonly idempotencyKey?: string
  readonly wait?: boolean
}

export function register(program: Command, io: Io): void {
  program
    .command('send')
    .description('send a transaction; the sub-wallet pays the gas')
    .requiredOption('--chain <id>', 'chain id', integerOption)
    .requiredOption('--to <address>', 'recipient or contract')
    .option('--value <wei>', 'native amount in wei')
    .option('--data <hex>', 'calldata')
    .option('--idempotency-key <key>', 'same key = same payment; reuse it when retrying')
    .option('--wait', 'until it is confirmed')
    .action(
      async ({ chain, to, value, data, idempotencyKey, wait }: SendOptions, command: Command) => {
        const options = command.optsWithGlobals<GlobalOptions>()
        const client = agentClient(io, options)
        const sent = await client.sendTransaction(
          {
            chain_id: chain,
            to,
            ...(value === undefined ? {} : { value }),
            ...(data === undefined ? {} : { data }),
          },
          idempotencyKey === undefined ? {} : { idempotencyKey },
        )
        const record = wait === true ? await followTransaction(io, client, sent.tx_id) : sent
        printRecord(io, options, record, TRANSACTION_COLUMNS)
      },
    )
}
