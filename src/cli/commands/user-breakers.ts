import { type Command, Option } from 'commander'
import type { ConsoleInput, ConsoleOutput } from '../../api/console-operations.js'
import { consoleClient, type GlobalOptions } from '../connection.js'
import { UsageError } from '../exit-codes.js'
import type { Io } from '../io.js'
import { readJson } from '../policy-file.js'
import { printRows } from '../print.js'

type Breakers = ConsoleOutput<'get_breakers'>
type Wanted = ConsoleInput<'set_breakers'>
const COLUMNS = ['kind', 'count', 'factor', 'wallets', 'per_seconds']

export function register(program: Command, io: Io): void {
  const breakers = program
    .command('breakers')
    .description('breakers that freeze your whole account (console token)')
  const show = (options: GlobalOptions, value: Breakers) => {
    if (value.breakers.length === 0 && options.json !== true) io.out('no breakers are set\n')
    else printRows(io, options, value, value.breakers, COLUMNS)
  }
  breakers
    .command('list', { isDefault: true })
    .description('list the breakers')
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      show(options, await (await consoleClient(io, options)).getBreakers())
    })
  breakers
    .command('set')
    .description('replace the breakers; they count from zero')
    .addOption(
      new Option(
        '--preset <name>',
        'off: no breakers; strict: for accounts with few known beneficiaries',
      ).choices(['off', 'usual', 'strict']),
    )
    .option('--file <file>', 'JSON: a list of {kind, per_seconds, count | factor | wallets}')
    .action(
      async (given: { preset?: 'off' | 'usual' | 'strict'; file?: string }, command: Command) => {
        const options = command.optsWithGlobals<GlobalOptions>()
        const { preset, file } = given
        if ((preset === undefined) === (file === undefined)) {
          throw new UsageError('pass --preset or --file')
        }
        const breakers = preset ?? (readJson(file ?? '') as Wanted['breakers'])
        show(options, await (await consoleClient(io, options)).setBreakers({ breakers }))
      },
    )
}
