import type { z } from 'zod'
import { consoleAccountRows } from './console-account-rows.js'
import { consoleMemberRows } from './console-member-rows.js'
import { consoleRecordRows } from './console-record-rows.js'
import { consoleWebhookRows } from './console-webhook-rows.js'

/** All of the console's routes, in the order of the document. */
export const consoleOperations = [
  ...consoleAccountRows,
  ...consoleMemberRows,
  ...consoleWebhookRows,
  ...consoleRecordRows,
] as const

export type ConsoleOperation = (typeof consoleOperations)[number]
export type ConsoleOperationName = ConsoleOperation['name']
export type ConsoleInput<N extends ConsoleOperationName> = z.infer<
  Extract<ConsoleOperation, { name: N }>['input']
>
export type ConsoleOutput<N extends ConsoleOperationName> = z.infer<
  Extract<ConsoleOperation, { name: N }>['output']
>
