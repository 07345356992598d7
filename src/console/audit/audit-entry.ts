import type { Output } from '../api.js'

export type AuditEntry = Output<'GET', '/api/v1/agent/audit'>['records'][number]
