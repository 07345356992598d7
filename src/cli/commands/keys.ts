import { type Command, Option } from 'commander'
import type { ConsoleInput } from '../../api/console-operations.js'
import { consoleClient, type GlobalOptions } from '../connection.js'
import type { Io } from '../io.js'
import { integerListOption } from '../options.js'
import { printRecord, printRows } from '../print.js'

const LIST = [
  'key_id',
  'name',
  'permission',
  'status',
  'daily_limit_usd',
  'monthly_limit_usd',
  'secret_prefix',
]
const SHOWN_ONCE = 'The secret is shown this once; only its hash is kept.\n'

interface CreateOptions {
  readonly wallet: string
  readonly permission: 'read' | 'trade'
  readonly daily: string
  readonly monthly: string
  readonly chains?: number[]
}

export function register(program: Command, io: Io): void {
  const keys = program.command('keys').description('API keys (console token)')
  keys
    .command('list', { isDefault: true })
    .description('your keys')
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const value = await (await consoleClient(io, options)).listKeys()
      printRows(io, options, value, value.keys, LIST)
    })
  keys
    .command('create')
    .description('issue a key; its caps must be said')
    .argument('<name>')
    .requiredOption('--wallet <sub_wallet_id>', 'the sub-wallet it is bound to')
    .requiredOption('--daily <usd>', 'daily cap in USD, or unlimited')
    .requiredOption('--monthly <usd>', 'monthly cap in USD, or unlimited')
    .addOption(new Option('--permission <kind>').choices(['read', 'trade']).default('read'))
    .option(
      '--chains <ids>',
      'allowed chain ids, comma-separated (default: all)',
      integerListOption,
    )
    .action(async (name: string, given: CreateOptions, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const input: ConsoleInput<'create_key'> = {
        name,
        sub_wallet_id: given.wallet,
        permission: given.permission,
        daily_limit_usd: given.daily,
        monthly_limit_usd: given.monthly,
        ...(given.chains === undefined ? {} : { allowed_chains: given.chains }),
      }
      const key = await (await consoleClient(io, options)).createKey(input)
      printRecord(io, options, key, ['key_id', 'secret', ...LIST.slice(1, -1)])
      io.err(SHOWN_ONCE)
    })
  keys
    .command('rotate')
    .description('issue a successor; the old key lives for 24 hours more')
    .argument('<key_id>')
    .action(async (keyId: string, _options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const key = await (await consoleClient(io, options)).rotateKey({ key_id: keyId })
      printRecord(io, options, key, ['key_id', 'secret', 'previous'])
      io.err(SHOWN_ONCE)
    })
  keys
    .command('revoke')
    .description('end a key at once, for good')
    .argument('<key_id>')
    .action(async (keyId: string, _options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const key = await (await consoleClient(io, options)).revokeKey({ key_id: keyId })
      printRecord(io, options, key, ['key_id', 'name', 'status'])
    })
}
