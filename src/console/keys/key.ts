import type { Output } from '../api.js'

/** An API key as the list has it. */
export type Key = Output<'GET', '/api/v1/agent/keys'>['keys'][number]
