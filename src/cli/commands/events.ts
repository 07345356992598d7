import type { Command } from 'commander'
import { consoleClient, type GlobalOptions } from '../connection.js'
import type { Io } from '../io.js'
import { integerOption } from '../options.js'
import { printRecord, printRows } from '../print.js'

interface ListOptions {
  readonly after?: number
  readonly limit?: number
}

const COLUMNS = ['seq', 'timestamp', 'type', 'event_id', 'subject']

export function register(program: Command, io: Io): void {
  const events = program
    .command('events')
    .description('the event log that webhooks deliver (console token)')
  events
    .command('list', { isDefault: true })
    .description('list events without gaps, oldest first')
    .option(
      '--after <seq>',
      'only events after this one (default: from the oldest kept)',
      integerOption,
    )
    .option('--limit <count>', 'how many, 1 to 100', integerOption)
    .action(async (given: ListOptions, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const value = await (await consoleClient(io, options)).listEvents(given)
      const rows = value.events.map((event) => ({ ...event, subject: subjectOf(event.data) }))
      printRows(io, options, value, rows, COLUMNS)
      if (value.has_more) io.err(`more: --after ${value.next_after}\n`)
    })
  events
    .command('redeliver')
    .description('send an event to its webhook endpoints again')
    .argument('<event_id>')
    .action(async (eventId: string, _options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const client = await consoleClient(io, options)
      printRecord(io, options, await client.redeliverEvent({ event_id: eventId }))
    })
}

/** Returns the id of an event's subject. */
function subjectOf(data: Readonly<Record<string, unknown>>): unknown {
  return data.tx_id ?? data.key_id ?? data.webhook_id ?? null
}
