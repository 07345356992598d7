import type { Command } from 'commander'
import { consoleClient, type GlobalOptions } from '../connection.js'
import type { Io } from '../io.js'
import { printRecord, printRows } from '../print.js'

const COLUMNS = ['sub_wallet_id', 'name', 'address', 'created_at']

export function register(program: Command, io: Io): void {
  const wallets = program.command('wallets').description('sub-wallets (console token)')
  wallets
    .command('list', { isDefault: true })
    .description('your sub-wallets')
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const value = await (await consoleClient(io, options)).listWallets()
      const rows = value.wallets.map((wallet) => ({ ...wallet, address: wallet.addresses.evm }))
      printRows(io, options, value, rows, COLUMNS)
    })
  wallets
    .command('create')
    .description('create a sub-wallet')
    .argument('<name>')
    .action(async (name: string, _options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const wallet = await (await consoleClient(io, options)).createWallet({ name })
      const shown = { ...wallet, address: wallet.addresses.evm }
      printRecord(io, options, options.json === true ? wallet : shown, COLUMNS)
    })
}
