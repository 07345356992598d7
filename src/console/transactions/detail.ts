import type { Output } from '../api.js'

export type Detail = Output<'GET', '/api/v1/agent/transactions/:tx_id'>
