import type { Command } from 'commander'
import { agentClient, type GlobalOptions } from '../connection.js'
import type { Io } from '../io.js'
import { CHAIN_HELP, chainOption } from '../options.js'
import { printRows } from '../print.js'

const COLUMNS = ['symbol', 'balance', 'decimals', 'usd_value', 'token']

export function register(program: Command, io: Io): void {
  program
    .command('balances')
    .description("native and token balances of this key's wallet on one chain")
    .requiredOption('--chain <chain>', CHAIN_HELP, chainOption)
    .action(async ({ chain }: { readonly chain: number }, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const client = agentClient(io, options)
      const [native, { tokens }] = await Promise.all([
        client.getNativeBalance({ chain_id: chain }),
        client.getTokenBalances({ chain_id: chain }),
      ])
      const rows = [{ ...native, token: 'native' }, ...tokens]
      printRows(io, options, { chain_id: chain, native, tokens }, rows, COLUMNS)
    })
}
