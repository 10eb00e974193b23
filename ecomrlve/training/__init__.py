"""What trains agents: demonstrations for supervised fine-tuning."""
