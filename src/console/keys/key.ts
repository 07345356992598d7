import type { Output } from '../api.js'

/** An API key as in the list. */
export type Key = Output<'GET', '/api/v1/agent/keys'>['keys'][number]
