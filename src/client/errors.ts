import { CATALOGUE, type ErrorCode } from '../errors/catalogue.js'

/**
 * Errors that a call may throw. `code` is the service's stable code (CONTRACT.md, "Errors"); the
 * classes group codes by what a program does about them.
 */

export interface ServiceErrorFields {
  /** A code that this version of the client does not know is passed on unchanged. */
  readonly code: ErrorCode | (string & {})
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
  readonly requestId: string
  /** HTTP status. */
  readonly status: number
  /** Seconds that the service asks to wait; null if it did not tell. */
  readonly retryAfterSeconds: number | null
}

export class CountersignError extends Error {
  override readonly name: string = 'CountersignError'
  /**
   * Key of the write that failed, given or generated: repeated with it, the write never pays twice.
   * Null for other calls.
   */
  idempotencyKey: string | null = null
}

/** The service answered with an error. */
export class ServiceError extends CountersignError implements ServiceErrorFields {
  override readonly name: string = 'ServiceError'
  readonly code: ServiceErrorFields['code']
  readonly details: Readonly<Record<string, unknown>>
  readonly requestId: string
  readonly status: number
  readonly retryAfterSeconds: number | null

  constructor(fields: ServiceErrorFields) {
    super(`${fields.code}: ${fields.message}`)
    this.code = fields.code
    this.details = fields.details
    this.requestId = fields.requestId
    this.status = fields.status
    this.retryAfterSeconds = fields.retryAfterSeconds
  }

  /** True if the same request can succeed later. */
  get retryable(): boolean {
    return Object.hasOwn(CATALOGUE, this.code) && CATALOGUE[this.code as ErrorCode].retryable
  }
}

/** 401: the key or token is missing, wrong, revoked or expired. */
export class AuthenticationError extends ServiceError {
  override readonly name = 'AuthenticationError'
}

/** 403: the key may not do this, or not on this chain. */
export class PermissionError extends ServiceError {
  override readonly name = 'PermissionError'
}

/** A spend cap was reached; `details` names it, what is left, and when it resets. */
export class LimitExceededError extends ServiceError {
  override readonly name = 'LimitExceededError'
  declare readonly details: {
    readonly period?: 'daily' | 'monthly'
    readonly limit_usd?: string
    readonly used_usd?: string
    readonly reserved_usd?: string
    readonly requested_usd?: string
    readonly resets_at?: string
  }
}

/** Screening found a listed address; nothing was signed. */
export class AddressBlockedError extends ServiceError {
  override readonly name = 'AddressBlockedError'
  declare readonly details: {
    readonly address?: string
    readonly list?: string
    readonly path?: string
  }
}

/** 400, 413, 415: the request must be changed. */
export class InvalidRequestError extends ServiceError {
  override readonly name = 'InvalidRequestError'
}

/** 404. */
export class NotFoundError extends ServiceError {
  override readonly name = 'NotFoundError'
}

/** 409 and `IDEMPOTENCY_KEY_REUSED`: the request conflicts with another. */
export class ConflictError extends ServiceError {
  override readonly name = 'ConflictError'
}

/** 422: the request is valid but cannot be done now (funds, price, revert, slippage). */
export class UnprocessableError extends ServiceError {
  override readonly name = 'UnprocessableError'
}

/** 429. */
export class RateLimitedError extends ServiceError {
  override readonly name = 'RateLimitedError'
}

/** 500, 502, 503: the service, or something that it needs, is unavailable. */
export class UnavailableError extends ServiceError {
  override readonly name = 'UnavailableError'
}

/** No answer arrived. A write may have happened: repeat it with `idempotencyKey`. */
export class ConnectionError extends CountersignError {
  override readonly name = 'ConnectionError'
}

/**
 * The wait ended because it took too long or the service did not answer; the transaction continues.
 */
export class WaitTimeoutError extends CountersignError {
  override readonly name = 'WaitTimeoutError'

  readonly txId: string

  constructor(message: string, txId: string, options?: ErrorOptions) {
    super(message, options)
    this.txId = txId
  }
}

/** The delivery is not from the service, or is too old. */
export class WebhookVerificationError extends CountersignError {
  override readonly name = 'WebhookVerificationError'
}

export function serviceError(fields: ServiceErrorFields): ServiceError {
  if (fields.code === 'LIMIT_EXCEEDED') return new LimitExceededError(fields)
  if (fields.code === 'ADDRESS_BLOCKED') return new AddressBlockedError(fields)
  if (fields.code === 'IDEMPOTENCY_KEY_REUSED') return new ConflictError(fields)
  switch (fields.status) {
    case 400:
    case 413:
    case 415:
      return new InvalidRequestError(fields)
    case 401:
      return new AuthenticationError(fields)
    case 403:
      return new PermissionError(fields)
    case 404:
      return new NotFoundError(fields)
    case 409:
      return new ConflictError(fields)
    case 422:
      return new UnprocessableError(fields)
    case 429:
      return new RateLimitedError(fields)
    default:
      return fields.status >= 500 ? new UnavailableError(fields) : new ServiceError(fields)
  }
}
