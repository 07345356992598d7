import { type Command, Option } from 'commander'
import type { ConsoleInput } from '../../api/console-operations.js'
import { auditType } from '../../api/console-records.js'
import { consoleClient, type GlobalOptions } from '../connection.js'
import type { Io } from '../io.js'
import { integerOption } from '../options.js'
import { printRows } from '../print.js'

interface AuditOptions {
  readonly wallet?: string
  readonly key?: string
  readonly type?: NonNullable<ConsoleInput<'list_audit'>['type']>
  readonly limit?: number
  readonly cursor?: string
}

const COLUMNS = ['at', 'type', 'sub_wallet_id', 'key_id', 'tx_id', 'details']

export function register(program: Command, io: Io): void {
  program
    .command('audit')
    .description('the audit trail of your wallets, newest first (console token)')
    .option('--wallet <sub_wallet_id>', 'only one sub-wallet')
    .option('--key <key_id>', 'only one key')
    .addOption(new Option('--type <type>', 'only one type').choices(auditType.options))
    .option('--limit <count>', 'how many, 1 to 100', integerOption)
    .option('--cursor <cursor>', 'next_cursor of the previous page')
    .action(async ({ wallet, key, type, limit, cursor }: AuditOptions, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const input = {
        ...(wallet === undefined ? {} : { sub_wallet_id: wallet }),
        ...(key === undefined ? {} : { key_id: key }),
        ...(type === undefined ? {} : { type }),
        ...(limit === undefined ? {} : { limit }),
        ...(cursor === undefined ? {} : { cursor }),
      }
      const value = await (await consoleClient(io, options)).listAudit(input)
      printRows(io, options, value, value.records, COLUMNS)
      if (value.next_cursor !== null) io.err(`older ones: --cursor ${value.next_cursor}\n`)
    })
}
