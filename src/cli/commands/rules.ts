import type { Command } from 'commander'
import { consoleClient, type GlobalOptions } from '../connection.js'
import type { Io } from '../io.js'
import { integerOption } from '../options.js'
import { printRecord, printRows } from '../print.js'

const COLUMNS = ['address', 'action', 'note', 'created_at']
const WHAT = {
  block: 'block an address: nothing is sent there',
  allow:
    "allow an address that you blocked; never overrides a sanctions list or the operator's list",
} as const

interface ListOptions {
  readonly limit?: number
  readonly cursor?: string
}

export function register(program: Command, io: Io): void {
  const rules = program.command('rules').description('your own address rules (console token)')
  rules
    .command('list', { isDefault: true })
    .description('your rules')
    .option('--limit <count>', 'how many, 1 to 100', integerOption)
    .option('--cursor <cursor>', 'next_cursor of the previous page')
    .action(async (given: ListOptions, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const value = await (await consoleClient(io, options)).listAddressRules(given)
      printRows(io, options, value, value.rules, COLUMNS)
    })
  for (const action of ['block', 'allow'] as const) {
    rules
      .command(action)
      .description(WHAT[action])
      .argument('<address>')
      .option('--note <text>', 'why')
      .action(async (address: string, { note }: { readonly note?: string }, command: Command) => {
        const options = command.optsWithGlobals<GlobalOptions>()
        const input = { address, action, ...(note === undefined ? {} : { note }) }
        const rule = await (await consoleClient(io, options)).putAddressRule(input)
        printRecord(io, options, rule, COLUMNS)
      })
  }
  rules
    .command('remove')
    .description('remove a rule')
    .argument('<address>')
    .action(async (address: string, _options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const client = await consoleClient(io, options)
      printRecord(io, options, await client.deleteAddressRule({ address }))
    })
}
