// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title Wrapped native currency of the development chains
/// @notice Behaves as WETH9 does: `deposit`, `withdraw`, plain transfers wrap, and a withdrawal
/// hands the receiver the 2,300 gas stipend alone, so that a receiver which needs more fails here
/// as it would on a real chain.
contract DevWrappedNative is ERC20 {
    event Deposit(address indexed account, uint256 amount);
    event Withdrawal(address indexed account, uint256 amount);

    error NativeTransferFailed();

    constructor(string memory name_, string memory symbol_) ERC20(name_, symbol_) {}

    receive() external payable {
        deposit();
    }

    function deposit() public payable {
        _mint(msg.sender, msg.value);
        emit Deposit(msg.sender, msg.value);
    }

    function withdraw(uint256 amount) external {
        _burn(msg.sender, amount);
        emit Withdrawal(msg.sender, amount);
        // Gas 0 plus the stipend that a value call adds: what WETH9's `transfer` forwards.
        (bool sent, ) = msg.sender.call{value: amount, gas: 0}("");
        require(sent, NativeTransferFailed());
    }
}
