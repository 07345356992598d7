/**
 * Protects against a failing provider: after some failures in a row no request is permitted for a
 * while, then one; its result decides. The clock is passed in.
 */
export class CircuitBreaker {
  readonly #failuresMax: number
  readonly #openMs: number
  #failures = 0
  #openUntilMs = 0
  #probing = false

  /**
   * @param failuresMax failures in a row that open it
   * @param openMs how long it stays open
   */
  constructor(failuresMax: number, openMs: number) {
    this.#failuresMax = failuresMax
    this.#openMs = openMs
  }

  /** True when a request may be sent; each true must be followed by `succeeded` or `failed`. */
  allows(nowMs: number): boolean {
    if (this.#failures < this.#failuresMax) return true
    if (this.#probing || nowMs < this.#openUntilMs) return false
    this.#probing = true
    return true
  }

  succeeded(): void {
    this.#failures = 0
    this.#probing = false
  }

  failed(nowMs: number): void {
    this.#failures++
    this.#probing = false
    if (this.#failures >= this.#failuresMax) this.#openUntilMs = nowMs + this.#openMs
  }
}
