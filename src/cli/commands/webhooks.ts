import { type Command, Option } from 'commander'
import type { ConsoleInput } from '../../api/console-operations.js'
import { consoleClient, type GlobalOptions } from '../connection.js'
import type { Io } from '../io.js'
import { listOption } from '../options.js'
import { printRecord, printRows } from '../print.js'

type Events = NonNullable<ConsoleInput<'create_webhook'>['events']>

interface Wished {
  readonly events?: string[]
  readonly kind?: NonNullable<ConsoleInput<'create_webhook'>['kind']>
  readonly chat?: string
  readonly email?: string
}

export function register(program: Command, io: Io): void {
  const webhooks = program.command('webhooks').description('webhook endpoints (console token)')
  webhooks
    .command('list', { isDefault: true })
    .description('your endpoints')
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const value = await (await consoleClient(io, options)).listWebhooks()
      printRows(io, options, value, value.webhooks, ['webhook_id', 'url', 'events', 'status'])
    })
  webhooks
    .command('create')
    .description('register an endpoint, or with --kind a channel for people')
    .argument('[url]', 'default: COUNTERSIGN_CHANNEL_URL; a Slack URL is a secret')
    .option('--events <types>', 'comma-separated (default: confirmed, failed, dropped)', listOption)
    .addOption(
      new Option('--kind <kind>').choices(['webhook', 'slack', 'telegram', 'ntfy', 'email']),
    )
    .option('--chat <id>', 'telegram: the recipient; the token is COUNTERSIGN_CHANNEL_TOKEN')
    .option('--email <address>', 'email: the recipient')
    .action(async (given: string | undefined, wished: Wished, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const { events, kind, chat, email } = wished
      const url = given ?? io.env.COUNTERSIGN_CHANNEL_URL
      const token = io.env.COUNTERSIGN_CHANNEL_TOKEN
      const input: ConsoleInput<'create_webhook'> = {
        ...(url === undefined ? {} : { url }),
        ...(events === undefined ? {} : { events: events as Events }),
        ...(kind === undefined ? {} : { kind }),
        ...(chat === undefined ? {} : { chat_id: chat }),
        ...(email === undefined ? {} : { email }),
        ...(token === undefined || kind === undefined ? {} : { token }),
      }
      const made = await (await consoleClient(io, options)).createWebhook(input)
      printRecord(io, options, made, ['webhook_id', 'kind', 'secret', 'url', 'events'])
      if (made.secret !== null) io.err('The secret is shown only once.\n')
    })
  webhooks
    .command('delete')
    .description('remove an endpoint')
    .argument('<webhook_id>')
    .action(async (webhookId: string, _options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const client = await consoleClient(io, options)
      printRecord(io, options, await client.deleteWebhook({ webhook_id: webhookId }))
    })
  webhooks
    .command('test')
    .description('send a webhook.test event')
    .argument('<webhook_id>')
    .action(async (webhookId: string, _options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const client = await consoleClient(io, options)
      printRecord(io, options, await client.testWebhook({ webhook_id: webhookId }))
    })
  webhooks
    .command('deliveries')
    .description('list deliveries and pending attempts')
    .argument('<webhook_id>')
    .action(async (webhookId: string, _options: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const client = await consoleClient(io, options)
      const value = await client.listDeliveries({ webhook_id: webhookId })
      printRows(io, options, value, value.deliveries, ['event_id', 'type', 'status'])
    })
}
