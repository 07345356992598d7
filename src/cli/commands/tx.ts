import type { Command } from 'commander'
import { agentClient, consoleClient, type GlobalOptions } from '../connection.js'
import { followTransaction, TRANSACTION_COLUMNS } from '../follow-transaction.js'
import type { Io } from '../io.js'
import { printRecord, printRows } from '../print.js'

export function register(program: Command, io: Io): void {
  const tx = program.command('tx').description('transactions')
  tx.command('show', { isDefault: true })
    .description('one transaction of this key’s wallet')
    .argument('<tx_id>')
    .option('--wait', 'wait until it is confirmed, failed or dropped')
    .action(async (txId: string, { wait }: { readonly wait?: boolean }, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const client = agentClient(io, options)
      const record =
        wait === true
          ? await followTransaction(io, client, txId)
          : await client.getTransactionStatus({ tx_id: txId })
      printRecord(io, options, record, TRANSACTION_COLUMNS)
    })
  tx.command('list')
    .description('transactions of all your wallets (console token)')
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const value = await (await consoleClient(io, options)).listTransactions()
      const columns = ['tx_id', 'chain_id', 'kind', 'status', 'spend_usd', 'created_at']
      printRows(io, options, value, value.transactions, columns)
    })
}
