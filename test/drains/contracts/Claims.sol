// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/// @notice ERC-6909: one contract holds many tokens, and its claims on them are numbered by token.
contract Claims {
    mapping(address => mapping(uint256 => uint256)) public balanceOf;
    mapping(address => mapping(address => mapping(uint256 => uint256))) public allowance;
    mapping(address => mapping(address => bool)) public isOperator;

    event Transfer(
        address caller,
        address indexed sender,
        address indexed receiver,
        uint256 indexed id,
        uint256 amount
    );
    event OperatorSet(address indexed owner, address indexed operator, bool approved);
    event Approval(
        address indexed owner,
        address indexed spender,
        uint256 indexed id,
        uint256 amount
    );

    function deposit(address token, uint256 amount, address receiver) external {
        balanceOf[receiver][uint160(token)] += amount;
        emit Transfer(msg.sender, address(0), receiver, uint160(token), amount);
        IERC20(token).transferFrom(msg.sender, address(this), amount);
    }

    function withdraw(address token, uint256 amount, address to) external {
        balanceOf[msg.sender][uint160(token)] -= amount;
        emit Transfer(msg.sender, msg.sender, address(0), uint160(token), amount);
        IERC20(token).transfer(to, amount);
    }

    function transfer(address receiver, uint256 id, uint256 amount) external returns (bool) {
        _move(msg.sender, receiver, id, amount);
        return true;
    }

    function transferFrom(
        address sender,
        address receiver,
        uint256 id,
        uint256 amount
    ) external returns (bool) {
        if (sender != msg.sender && !isOperator[sender][msg.sender]) {
            allowance[sender][msg.sender][id] -= amount;
        }
        _move(sender, receiver, id, amount);
        return true;
    }

    function approve(address spender, uint256 id, uint256 amount) external returns (bool) {
        allowance[msg.sender][spender][id] = amount;
        emit Approval(msg.sender, spender, id, amount);
        return true;
    }

    function setOperator(address operator, bool approved) external returns (bool) {
        isOperator[msg.sender][operator] = approved;
        emit OperatorSet(msg.sender, operator, approved);
        return true;
    }

    function _move(address sender, address receiver, uint256 id, uint256 amount) private {
        balanceOf[sender][id] -= amount;
        balanceOf[receiver][id] += amount;
        emit Transfer(msg.sender, sender, receiver, id, amount);
    }
}
