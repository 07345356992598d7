import { join } from 'node:path'
import { type Command, Option } from 'commander'
import { readChainPolicies } from '../../config/chains.js'
import { readScreeningFile } from '../../config/screening.js'
import type { ListSource } from '../../screening/lists/formats/read-list.js'
import { importList } from '../../screening/lists/import-list.js'
import { checkAddress, listsStatus } from '../../screening/lists/inspect-lists.js'
import { updateLists } from '../../screening/lists/update-lists.js'
import { type GlobalOptions, homeOf, isDevelopmentHome } from '../connection.js'
import { EXIT } from '../exit-codes.js'
import type { Io } from '../io.js'
import { listsContext } from '../lists-context.js'
import { printable, printRecord, printRows } from '../print.js'
import { registerReplay } from './lists-replay.js'

/** The publishers' names on the command line. */
const SOURCES = {
  ofac: 'ofac-sdn',
  uk: 'uk',
  eu: 'eu',
  file: 'plain',
} as const satisfies Record<string, ListSource>

/** The mode of this home's service: a development one also has a built-in sample. */
function modeOf(io: Io, options: GlobalOptions): 'dev' | 'live' {
  const said = io.env.COUNTERSIGN_MODE
  if (said === 'dev' || said === 'live') return said
  return isDevelopmentHome(io, options) ? 'dev' : 'live'
}

/** The screening lists in the service's home; a running service loads changes within a second. */
function contextOf(io: Io, options: GlobalOptions) {
  const home = homeOf(io, options)
  const { chains } = readChainPolicies(join(home, 'chains.json'))
  const mode = modeOf(io, options)
  return listsContext(home, chains, mode)
}

export function register(program: Command, io: Io): void {
  const lists = program.command('lists').description('screening lists in the home of the service')
  lists
    .command('status', { isDefault: true })
    .description('each list, its age, and whether the service could start')
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const status = await listsStatus(contextOf(io, options))
      printRows(
        io,
        options,
        status,
        status.lists.map((list) => ({ ...list, age: spanOf(list.ageMs, list.maxAgeMs) })),
        ['list', 'kind', 'entries', 'version', 'age', 'stale', 'source'],
      )
      for (const problem of status.problems) io.err(`${problem}\n`)
      if (!status.ready) {
        io.err(`not ready: ${status.reason ?? 'unknown'}\n`)
        process.exitCode = EXIT.unavailable
      }
    })
  lists
    .command('check')
    .description('lists that contain an address; exit code 3 if any does')
    .argument('<address>')
    .action(async (address: string, _options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const found = await checkAddress(address, contextOf(io, options))
      const rows = found.lists.map((list) => ({ ...list }))
      if (rows.length === 0 && options.json !== true) io.out('on no list\n')
      else printRows(io, options, found.lists, rows, ['list', 'version'])
      for (const problem of found.status.problems) io.err(`${problem}\n`)
      if (found.lists.length > 0) process.exitCode = EXIT.refused
    })
  lists
    .command('import')
    .description("import a publisher's file, replacing the earlier import")
    .argument('<file>', 'XML, CSV, text, or a ZIP of one')
    .addOption(new Option('--source <source>').choices(Object.keys(SOURCES)).makeOptionMandatory())
    .option('--name <name>', 'name of the list')
    .option('--confirm-shrink', 'accept it although it lost most of its addresses')
    .action(async (file: string, given: ImportOptions, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const report = await importList(
        {
          file,
          source: SOURCES[given.source],
          shrink: given.confirmShrink === true ? 'confirmed' : 'refuse',
          ...(given.name === undefined ? {} : { name: given.name }),
        },
        contextOf(io, options),
      )
      const { name, entries, refused_count, refused } = report.list
      const shown = { ...report, list: name, entries, refused: refused_count }
      if (options.json === true) printRecord(io, options, { ...report })
      else printRecord(io, options, shown, [...IMPORT_COLUMNS])
      for (const entry of refused) io.err(`refused (${entry.fault}): ${printable(entry.text)}\n`)
      if (refused_count > refused.length) io.err(`and ${refused_count - refused.length} more\n`)
    })
  lists
    .command('update')
    .description("fetch and import the lists that screening.json names, or OFAC's by default")
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const { downloads } = readScreeningFile(homeOf(io, options))
      const outcomes = await updateLists(
        contextOf(io, options),
        downloads?.map(({ source, url, name, redirect_hosts: redirectHosts }) => ({
          source: SOURCES[source],
          url,
          ...(name === undefined ? {} : { name }),
          ...(redirectHosts === undefined ? {} : { redirectHosts }),
        })),
      )
      printRows(
        io,
        options,
        outcomes,
        outcomes.map((outcome) => ({ ...outcome })),
        ['outcome', 'url', 'reason'],
      )
      if (outcomes.some(({ outcome }) => outcome === 'failed')) process.exitCode = EXIT.unavailable
    })
  registerReplay(lists, io, contextOf)
}

const IMPORT_COLUMNS = ['list', 'format', 'entries', 'added', 'removed', 'refused'] as const

const DAY_MS = 86_400_000

/** Lists without a maximum age, such as the operator's text files, count as checked now. */
function spanOf(ageMs: number, maxAgeMs: number | null): string {
  if (maxAgeMs === null) return '-'
  return `${(ageMs / DAY_MS).toFixed(1)} of ${maxAgeMs / DAY_MS} days`
}

interface ImportOptions {
  readonly source: keyof typeof SOURCES
  readonly name?: string
  readonly confirmShrink?: boolean
}
